"""Reads texts that a project or the user keeps for the model. They may be anything: huge, in
another encoding, a pipe, or a link to somebody's keys."""

import os
import stat
from pathlib import Path

MAX_TEXT_LENGTH = 64_000
"""Characters of one file: it is in every prompt, or in the model's window once it is asked for."""
_CHARACTER = 4
"""Bytes that one can take."""
CUT = "\n\n[The rest of this file is left out: it is too long.]"


def is_within(path: str | Path, roots: list[str]) -> bool:
    """Tell whether the path is in one of these directories, links followed."""
    place = os.path.realpath(path)
    real_roots = [os.path.realpath(root) for root in roots]
    return any(os.path.commonpath([root, place]) == root for root in real_roots)


def beginning(path: str | Path) -> str:
    """Return at most MAX_TEXT_LENGTH of a file. Raises OSError, also if it is no text."""
    data, size = _read(path, 0, MAX_TEXT_LENGTH * _CHARACTER)
    text = _decoded(path, data)
    return (
        text if len(text) <= MAX_TEXT_LENGTH and size <= len(data) else text[:MAX_TEXT_LENGTH] + CUT
    )


def end(path: str | Path, most: int) -> tuple[str, bool]:
    """Return the last whole lines of a file, at most `most` characters of them if it is longer; and
    whether there was more. Raises OSError."""
    data, size = _read(path, -most * _CHARACTER, most * _CHARACTER)
    cut = size > len(data)
    return _decoded(path, data.partition(b"\n")[2] if cut else data), cut


def _read(path: str | Path, start: int, most: int) -> tuple[bytes, int]:
    """Read from `start`, or from the end if negative. Returns the bytes and the file's size."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(22, "is not a file", str(path))
        at = max(0, status.st_size + start) if start < 0 else start
        parts = bytearray()
        while len(parts) < most and (more := os.pread(file, most - len(parts), at + len(parts))):
            parts += more
        return bytes(parts), status.st_size
    finally:
        os.close(file)


def _decoded(path: str | Path, data: bytes) -> str:
    """Decode, replacing what is not UTF-8: one invalid letter must not hide the rest."""
    if b"\0" in data:
        raise OSError(22, "is not a text", str(path))
    return data.decode("utf-8", "replace").lstrip("\ufeff")
