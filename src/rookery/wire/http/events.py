"""A parser of server-sent events: the data of each event, up to a size limit."""

from rookery.wire.lines import LineSplitter, TooLong

PREFIX = len(b"data: ")


class Events:
    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._lines = LineSplitter(longest + PREFIX + 1)
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """Return the messages that `data` completes."""
        messages: list[bytes | TooLong] = []
        for line in self._lines.feed(data):
            if isinstance(line, TooLong):
                self._size += line.size
            elif line.rstrip(b"\r") == b"":
                if self._size > self._longest:
                    messages.append(TooLong(self._size))
                elif self._data:
                    messages.append(b"\n".join(self._data))
                self._data, self._size = [], 0
            elif line.startswith(b"data:"):
                value = line.rstrip(b"\r")[len(b"data:") :].removeprefix(b" ")
                self._size += len(value)
                if self._size <= self._longest:
                    self._data.append(value)
        return messages
