"""Rotating log files of at most 5 MiB, with the previous 5 MiB in a second file."""

import os

from rookery.home import paths

LOG_BYTES = 5 * 1024 * 1024

BEFORE = ".1"
"""Suffix of the second file."""


def turn_over(path: str) -> bool:
    """Rotate a log that is too large; return whether it was. The text is copied and the file
    emptied, not renamed: several processes have it open for appending."""
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
