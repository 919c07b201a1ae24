"""The output of one command in bounded memory: its beginning and its end."""

import re
from collections import deque

HEAD = 256_000
TAIL = 512_000

# Colours and cursor movements: for a screen, not for a model.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_=>78])"
)


class Transcript:
    """A command's output, without the middle of what is too long."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._head_room = HEAD
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._lost = 0

    def add(self, text: str) -> None:
        if self._head_room > 0:
            first, text = text[: self._head_room], text[self._head_room :]
            self._head.append(first)
            self._head_room -= len(first)
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= TAIL:
            gone = self._tail.popleft()
            self._tail_size -= len(gone)
            self._lost += len(gone)

    def take(self) -> str:
        """Return all that is kept, as plain text, and start a new transcript."""
        gap = f"\n[{self._lost} characters left out]\n" if self._lost else ""
        text = "".join(self._head) + gap + "".join(self._tail)
        self._head, self._head_room, self._lost = [], HEAD, 0
        self._tail.clear()
        self._tail_size = 0
        return plain(text)


def plain(text: str) -> str:
    """Return text as on the screen: no escapes, an overwritten line in its last state."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
        text = "\n".join(lines)
    return text.replace("\x00", "")
