"""Texts that a project or the user keeps for the model, read as what they may be: huge, in another
encoding, a pipe, or a link to somebody's keys."""

import os
import stat
from pathlib import Path

LONGEST = 64_000
"""Characters of one file: it is in every prompt, or in the model's window once it is asked for."""
_CHARACTER = 4
"""Bytes that one can take."""
CUT = "\n\n[The rest of this file is left out: it is too long.]"


def is_within(path: str | Path, roots: list[str]) -> bool:
    """Whether it is in one of these directories, links followed."""
    place = os.path.realpath(path)
    found = [os.path.realpath(root) for root in roots]
    return any(os.path.commonpath([root, place]) == root for root in found)


def beginning(path: str | Path) -> str:
    """The text of a file, at most LONGEST of it. Raises OSError, also where it is no text."""
    data, size = _read(path, 0, LONGEST * _CHARACTER)
    text = _decoded(path, data)
    return text if len(text) <= LONGEST and size <= len(data) else text[:LONGEST] + CUT


def end(path: str | Path, most: int) -> tuple[str, bool]:
    """The last whole lines of a file, at least so many characters of them, if it is longer than
    that; and whether there was more. Raises OSError."""
    data, size = _read(path, -most * _CHARACTER, most * _CHARACTER)
    cut = size > len(data)
    return _decoded(path, data.partition(b"\n")[2] if cut else data), cut


def _read(path: str | Path, start: int, most: int) -> tuple[bytes, int]:
    """Bytes from there on, from the end where it is negative, and the size of the file."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(22, "is not a file", str(path))
        at = max(0, found.st_size + start) if start < 0 else start
        parts = bytearray()
        while len(parts) < most and (more := os.pread(file, most - len(parts), at + len(parts))):
            parts += more
        return bytes(parts), found.st_size
    finally:
        os.close(file)


def _decoded(path: str | Path, data: bytes) -> str:
    """What is not UTF-8 is replaced: a file with one foreign letter still says the rest."""
    if b"\0" in data:
        raise OSError(22, "is not a text", str(path))
    return data.decode("utf-8", "replace").lstrip("\ufeff")
