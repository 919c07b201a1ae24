"""Reads and writes files by the path that a model gives: links are followed to the file that is
meant."""

import errno
import os
import stat

from rookery.agent.files.changes import Changes
from rookery.agent.files.text import Text


def read(path: str | os.PathLike[str]) -> bytes:
    """Read a file. Raises OSError, also for anything but a regular file: a pipe would block."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(path))
    with open(path, "rb") as file:
        return file.read()


def text_of(path: str | os.PathLike[str]) -> str:
    """Return a file's text as a model reads it. Raises OSError."""
    return Text(read(path)).text


def write(path: str | os.PathLike[str], text: str) -> bytes | None:
    """Write a new text in the file's own encoding and line ends. Returns the old content; None if
    the file is new. Raises OSError, NotPutBack, ValueError."""
    try:
        before = read(path)
    except FileNotFoundError:
        put(path, text.encode())
        return None
    put(path, Text(before).encode(text))
    return before


def put(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file's bytes. Raises OSError, NotPutBack."""
    Changes({os.path.realpath(path): data}).make()
