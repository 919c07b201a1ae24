"""What one message may cost: its bytes and its values, each of which takes many times its bytes
once parsed. They are counted before that; of a line with too many, only the envelope is read."""

import re
from typing import Any, NamedTuple

from rookery.core.json.events import loads

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
    """Whether a line of JSON has more values than that. Text that is full of commas is not."""
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
    """The plain fields at the beginning and at the end of a message: its id, its method."""
    found: dict[str, Any] = {}
    for pattern, part in ((_HEAD, line[:END]), (_TAIL, line[-END:])):
        pairs = pattern.match(part) if pattern is _HEAD else pattern.search(part)
        if pairs is not None:
            try:
                found |= loads(b"{" + pairs[1].strip(b",") + b"}")
            except ValueError:
                continue
    return found


def is_id(value: Any) -> bool:
    return value is None or type(value) is int or isinstance(value, str)
