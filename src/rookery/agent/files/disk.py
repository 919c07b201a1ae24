"""Files on disk, by the path that a model gives: a link leads to the file that is meant."""

import errno
import os
import stat

from rookery.agent.files.changes import Changes
from rookery.agent.files.text import Text


def read(path: str | os.PathLike[str]) -> bytes:
    """Raises OSError, also for what is no file: a pipe would be waited for."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(path))
    with open(path, "rb") as file:
        return file.read()


def text_of(path: str | os.PathLike[str]) -> str:
    """As a model reads it. Raises OSError."""
    return Text(read(path)).text


def write(path: str | os.PathLike[str], text: str) -> bytes | None:
    """A new text in a file that stays what it was; None if it is new, else what was in it.
    Raises OSError, NotPutBack, ValueError."""
    try:
        before = read(path)
    except FileNotFoundError:
        put(path, text.encode())
        return None
    put(path, Text(before).encode(text))
    return before


def put(path: str | os.PathLike[str], data: bytes) -> None:
    """Raises OSError, NotPutBack."""
    Changes({os.path.realpath(path): data}).make()
