"""The errors of the log, as sentences for the user: no caller ever sees SQLite's own errors."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from rookery.core.refusals import Fixed


class LogError(Fixed):
    """The base class of what this package raises."""

    reason = "unreadable_log"


class Busy(LogError):
    """Another process holds the lock."""


class NoSession(LogError):
    """The directory has no log."""

    kind = "gone"
    reason = "unknown_session"


class NotALog(LogError):
    """The file is not a log of ours; it was left as it was."""


class TooNew(LogError):
    """A newer Rookery made the log; it was left as it was."""

    def __init__(self, path: str, version: int, known: int) -> None:
        super().__init__(
            f"{path} was made by a newer Rookery (log format {version}; this one knows {known}). "
            "Update Rookery to open it. Nothing in it was changed."
        )


class BadPlace(LogError):
    """The home is one that this build must not write to: on a network, or of a newer Rookery."""


class Repeated(LogError):
    """The log has an event with this cause: the command was carried out before."""


class StoreError(LogError):
    """SQLite or the disk failed; nothing of the append was kept."""


class Full(StoreError):
    """No space is left; the same append may succeed later."""

    kind = "full"
    reason = "disk_full"


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
    if code in REFUSED and (fault := fault_of(os.path.dirname(path))):
        kind = Full if fault == errno.ENOSPC else StoreError
        return kind(f"{path}: {FAULTS[fault]}, and try again.")
    if code == sqlite3.SQLITE_FULL:
        return Full(f"{path}: {FAULTS[errno.ENOSPC]}, and try again.")
    if code == sqlite3.SQLITE_NOTADB:
        return NotALog(f"{path} is not a Rookery log. It was not changed.")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(f"{path} is damaged ({error}).")
    if extended == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
        return Repeated(f"{path} already has an event with this cause.")
    return StoreError(f"{path}: {error}")


# --- the disk ------------------------------------------------------------------------------------

FAULTS = {
    errno.ENOSPC: "no space left on the disk. Free some",
    errno.EDQUOT: "your disk quota is used up. Delete files of yours, or have it raised",
    errno.EROFS: "the disk is mounted read-only. Mount it for writing",
    errno.EIO: "the disk failed to read or write (input/output error). Check it",
}
"""Each disk fault, by the system's error number, with its remedy: worded only here."""

REFUSED = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
)
"""SQLite's codes for what a disk did not take. It does not say why."""

LEAST = 64 * 1024
"""Bytes that are needed to open a log: SQLite cannot make the file that it reads a WAL by without
them, and calls that a fault."""


def fault_of(directory: str) -> int:
    """Return the number in FAULTS of what keeps files from being written there; 0 if none of them
    does."""
    from tempfile import TemporaryFile  # only where something went wrong

    try:
        with TemporaryFile(dir=directory, buffering=0) as file:
            if file.write(bytes(LEAST)) < LEAST:
                file.write(b"\0")  # which says why
    except OSError as error:
        return error.errno if error.errno in FAULTS else 0
    return 0


def disk_words(error: OSError, place: str) -> str:
    """Return a sentence about a disk that failed at `place`; "" if the error is something else."""
    fault = FAULTS.get(error.errno or 0, "")
    return f"{place}: {fault}." if fault else ""
