"""Bytes cut into lines, with a ceiling: one endless line must not fill the memory."""

from typing import NamedTuple


class TooLong(NamedTuple):
    """Stands for a line whose bytes were not kept."""

    size: int


type Line = bytes | TooLong


class LineSplitter:
    """Any way of cutting the same bytes into pieces gives the same lines."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._tail = bytearray()
        self._skipped = 0

    def feed(self, data: bytes) -> list[Line]:
        """The lines that `data` completes, without their newlines."""
        first, *parts = data.split(b"\n")
        if not parts:
            self._keep(first)
            return []
        lines: list[Line] = []
        if self._tail or self._skipped:
            self._keep(first)
            lines.append(self._finish())
        else:
            parts.insert(0, first)
        last = parts.pop()
        if len(data) > self._longest:
            lines += [part if len(part) <= self._longest else TooLong(len(part)) for part in parts]
        else:
            lines += parts
        self._keep(last)
        return lines

    def end(self) -> list[Line]:
        """The last line, where its newline never came."""
        return [self._finish()] if self._tail or self._skipped else []

    def _keep(self, part: bytes) -> None:
        if self._skipped:
            self._skipped += len(part)
        elif len(self._tail) + len(part) > self._longest:
            self._skipped = len(self._tail) + len(part)
            self._tail = bytearray()
        else:
            self._tail += part

    def _finish(self) -> Line:
        if self._skipped:
            size, self._skipped = self._skipped, 0
            return TooLong(size)
        line, self._tail = bytes(self._tail), bytearray()
        return line
