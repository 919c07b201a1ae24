"""What can go wrong with a log, in sentences for the user: nobody outside meets SQLite's errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


class LogError(Exception):
    """The root of what this package raises."""


class Busy(LogError):
    """Another process holds the lock."""


class NoSession(LogError):
    """The directory has no log."""


class NotALog(LogError):
    """The file is no log of ours; it was left as it was."""


class TooNew(LogError):
    """A later Rookery made the log; it was left as it was."""

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"{path} was made by a newer Rookery (log format {found}; this one knows {known}). "
            "Update Rookery to open it. Nothing in it was changed."
        )


class BadPlace(LogError):
    """A home that this build must not write: on a network, or of a newer Rookery."""


class Repeated(LogError):
    """The log has an event with this cause: the command was carried out before."""


class StoreError(LogError):
    """SQLite or the disk failed; nothing of the append was kept."""


class Full(StoreError):
    """No space is left; the same append may succeed later."""


@contextmanager
def failures(path: str) -> Iterator[None]:
    """Turn SQLite's errors inside the block into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, path) from error


def translated(error: sqlite3.Error, path: str) -> LogError:
    # Errors that Python's own layer raises carry no code.
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _has_no_room(path)):
        return Full(f"{path}: no space left on the disk. Free some and try again.")
    if code == sqlite3.SQLITE_NOTADB:
        return NotALog(f"{path} is not a Rookery log. It was not changed.")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(f"{path} is damaged ({error}).")
    if extended == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
        return Repeated(f"{path} already has an event with this cause.")
    return StoreError(f"{path}: {error}")


def _has_no_room(path: str) -> bool:
    """On a full disk SQLite cannot make the file that it reads a WAL by, and calls that a fault."""
    try:
        found = os.statvfs(os.path.dirname(path))
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < LEAST


LEAST = 64 * 1024
"""Bytes that are needed to open a log."""
