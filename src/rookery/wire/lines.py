"""Bytes cut into lines, with a ceiling: one endless line must not fill the memory. And the way
back: JSON as a line that every parser takes."""

import re
from typing import NamedTuple

SURROGATES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\ud[89a-f][0-9a-f]{2}")
"""Of ASCII JSON: an escaped backslash (nothing begins inside it), a pair, a lone half."""
LONE = 6


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


def line_of(text: str) -> bytes:
    """ASCII JSON as a line. Half a surrogate pair cannot be said in UTF-8, and parsers that know
    (those of Rust) refuse the whole line: it is replaced, as a decoder does."""
    if "\\ud" in text:
        text = SURROGATES.sub(lambda m: "\\ufffd" if len(m[0]) == LONE else m[0], text)
    return text.encode("ascii") + b"\n"
