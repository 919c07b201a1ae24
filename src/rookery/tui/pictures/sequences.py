"""Sequences that draw a whole picture at the cursor, in iTerm2's protocol and in sixels. None of an
agent's bytes is in them as it came: they are base64, or were re-encoded."""

import re
from base64 import b64encode

_PLAIN = re.compile(rb"[!-~]*")
"""The characters of sixels; none of them ends the sequence."""


def iterm2(data: bytes, columns: int, rows: int) -> str:
    about = f"inline=1;size={len(data)};width={columns};height={rows}"
    text = b64encode(data).decode("ascii")
    return f"\x1b]1337;File={about};preserveAspectRatio=1;doNotMoveCursor=1:{text}\x07"


def sixels(data: bytes) -> str:
    """Return the sequence for sixels; "" if the bytes are none."""
    return f"\x1bP0;1;0q{data.decode('ascii')}\x1b\\" if _PLAIN.fullmatch(data) else ""


def moved_to(column: int, row: int, sequence: str) -> str:
    """Return a sequence drawn at a cell, counted from 0; the cursor is restored."""
    return f"\x1b7\x1b[{row + 1};{column + 1}H{sequence}\x1b8"
