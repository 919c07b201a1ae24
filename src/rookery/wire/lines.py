"""Splitting bytes into lines, with ceilings: neither an endless line nor a huge number of values,
each of which takes many times its bytes once parsed, may fill the memory. Also the way back:
encoding JSON as a line that every parser accepts."""

import re
from typing import Any, NamedTuple

from rookery.core.json import loads

SURROGATES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\ud[89a-f][0-9a-f]{2}")
"""Matches in ASCII JSON an escaped backslash (nothing begins inside it), a surrogate pair, or a
lone half."""
LONE = 6


class TooLong(NamedTuple):
    """Stands for a line whose bytes were not kept."""

    size: int


type Line = bytes | TooLong


class LineSplitter:
    """Splits bytes into lines; however the bytes are cut into pieces, the lines are the same."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._tail = bytearray()
        self._skipped = 0

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that `data` completes, without their newlines."""
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
        """Return the last line, if its newline never came."""
        return [self._finish()] if self._tail or self._skipped else []

    def rest(self, _late: float) -> float:
        """Return the seconds for which nothing more is worth reading (see PipeReader)."""
        return 0.0

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
    """Encode ASCII JSON as a line. A lone surrogate cannot be encoded in UTF-8, and strict parsers
    (those of Rust) refuse the whole line: it is replaced, as a decoder does."""
    if "\\ud" in text:
        text = SURROGATES.sub(lambda m: "\\ufffd" if len(m[0]) == LONE else m[0], text)
    return text.encode("ascii") + b"\n"


END = 4096
"""Bytes at either end of a line in which its envelope is looked for."""

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rb"(?:" + _STRING + rb"|-?\d[\d.eE+-]*+|true|false|null)"
_PAIR = rb"\s*+" + _STRING + rb"\s*+:\s*+" + _SCALAR + rb"\s*+"

# Strings are stepped over whole, also one that never ends; what is left counts.
_SIGNS = re.compile(_STRING + rb"?|[,\[{]", re.DOTALL)
_HEAD = re.compile(rb"\s*+\{((?:" + _PAIR + rb",)*)", re.DOTALL)
_TAIL = re.compile(rb"[}\]]\s*+((?:," + _PAIR + rb")+)\}\s*+\Z", re.DOTALL)
_QUOTE = ord('"')


class Ceilings(NamedTuple):
    line: int = 64 * 1024 * 1024
    """Bytes; a longer line is skipped without being kept."""
    sent: int = 32 * 1024 * 1024
    """Bytes; a longer line is refused to the caller: the clients of the field would hang up."""
    open: int = 10_000
    """Unanswered requests of the other side; more are refused."""
    values: int = 100_000
    """In one line: 10 MiB of small objects would take half a gigabyte."""


def is_crowded(line: bytes, most: int) -> bool:
    """Return whether a line of JSON has more than `most` values. Commas inside texts do not
    count."""
    if len(line) <= 2 * most or sum(line.count(sign) for sign in (b",", b"[", b"{")) <= most:
        return False
    left = most
    for sign in _SIGNS.finditer(line):
        if line[sign.start()] != _QUOTE:
            left -= 1
            if left < 0:
                return True
    return False


def envelope(line: bytes) -> dict[str, Any]:
    """Return the plain fields at the beginning and end of a message: its id, its method."""
    fields: dict[str, Any] = {}
    for pattern, part in ((_HEAD, line[:END]), (_TAIL, line[-END:])):
        pairs = pattern.match(part) if pattern is _HEAD else pattern.search(part)
        if pairs is not None:
            try:
                fields |= loads(b"{" + pairs[1].strip(b",") + b"}")
            except ValueError:
                continue
    return fields


def is_id(value: Any) -> bool:
    return value is None or type(value) is int or isinstance(value, str)
