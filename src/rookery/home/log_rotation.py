"""A log of words that is turned over: the last 5 MiB before now in a second file, no more (row
H1)."""

import os

from rookery.home import paths

LOG_BYTES = 5 * 1024 * 1024

BEFORE = ".1"
"""Behind the name: what was in the log before it was turned over."""


def turn_over(path: str) -> bool:
    """Put a log aside that has grown over its size; whether it had.

    Its words are copied and the file is emptied, not renamed: several processes have it open for
    appending, and go on in the same one.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= LOG_BYTES:
                return False
            file.seek(size - LOG_BYTES)
            paths.write_atomic(path + BEFORE, file.read(LOG_BYTES), 0o600)
    except FileNotFoundError:
        return False
    os.truncate(path, 0)
    return True
