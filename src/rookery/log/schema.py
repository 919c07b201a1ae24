"""The versions of the log file, and the migration of older ones.

A file is checked before it is opened for writing: one of a later version, or that is not a log, is
left as it is. The check goes through SQLite, too: a plain close would drop SQLite's locks on it.
Migrations only add, so that a later build can read a log that a worker of the previous one is still
writing. A session with a field of `core/safety.py` has a version of its own, so that a build which
would ignore the field refuses the log."""

import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

from rookery.core import safety
from rookery.log.errors import NoSession, NotALog, StoreError, TooNew, failures
from rookery.log.rows import COLUMNS

type Migration = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x526F6F6B
"""Spells "Rook" in the file, so that `file` and we know it."""

FILE = "log.db"

BUSY_TIMEOUT = 5.0
"""Seconds to wait if a foreign program uses the file; our own processes never wait for each
other."""

TABLES = """
CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    turn INTEGER NOT NULL,
    cause TEXT,
    by TEXT,
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX event_cause ON event (cause) WHERE cause IS NOT NULL;
CREATE INDEX event_turn ON event (turn);
CREATE TABLE turn (
    n INTEGER PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER,
    header TEXT
);
CREATE TABLE blob (hash TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO turn (n, first_seq) VALUES (0, 1);
"""


class Schema(NamedTuple):
    """A version of the file, and the migrations to it from each older one."""

    version: int
    tables: str
    migrations: Mapping[int, Migration]
    """From version n to n + 1, under n."""
    marked: int = 0
    """The newest version with the same tables that a session's own fields may give it."""

    @property
    def newest(self) -> int:
        return max(self.version, self.marked)


SCHEMA = Schema(safety.PLAIN, TABLES, MappingProxyType({}), safety.FORMAT)


def connect(path: str, options: str) -> sqlite3.Connection:
    """Return a connection in autocommit mode: every BEGIN is explicit."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file://{quoted}?{options}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_TIMEOUT,
        check_same_thread=False,  # one thread at a time, but not always the same
    )
    connection.text_factory = _text
    return connection


def _text(data: bytes) -> str:
    """Decode text; what a foreign program left that is not UTF-8 is shown, and is not an error."""
    return data.decode(errors="backslashreplace")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes, or leave nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # After most failures SQLite has rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def look(path: str, schema: Schema = SCHEMA, *, wal: bool = False) -> int:
    """Return the version of the log at `path`; raises NoSession, NotALog or TooNew. Leaves no
    trace.

    Callers about to write check the WAL, too. A reader need not: it checks again when it has opened
    the log, and changes nothing in it."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise NoSession(f"there is no session in {os.path.dirname(path)}") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    if not os.path.isfile(path):
        raise NotALog(f"{path} is not a file")
    with failures(path):
        # immutable: no lock, no -shm, and no -wal is made or read.
        connection = connect(path, "mode=ro&immutable=1")
        try:
            # Else a file that is short of pages is refused. It is, for an instant, whenever its
            # writer empties the WAL into it, and for longer where the disk was full.
            connection.execute("PRAGMA writable_schema=ON")
            version = version_of(connection, path)
        finally:
            connection.close()
    if wal:
        version = max(version, _version_in_wal(f"{path}-wal"))
    return known(path, version, schema)


def version_of(connection: sqlite3.Connection, path: str) -> int:
    [(application,)] = connection.execute("PRAGMA application_id").fetchall()
    if application != APPLICATION_ID:
        raise NotALog(f"{path} is not a Rookery log. It was not changed.")
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(version)


def known(path: str, log_version: int, schema: Schema) -> int:
    if log_version > schema.newest:
        raise TooNew(path, log_version, schema.newest)
    if any(version not in schema.migrations for version in range(log_version, schema.version)):
        raise NotALog(f"{path} has log format {log_version}, which no release of Rookery wrote.")
    return log_version


def create(path: str, schema: Schema = SCHEMA) -> None:
    """Create an empty log, whole or not at all. The caller holds the lock."""
    unfinished = f"{path}.new"
    for left in (unfinished, f"{unfinished}-wal", f"{unfinished}-shm", f"{unfinished}-journal"):
        if os.path.lexists(left):
            os.unlink(left)
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with failures(path):
        connection = connect(unfinished, "mode=rw")
        try:
            connection.executescript(
                f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={schema.version};"
                f"BEGIN; {schema.tables} COMMIT; PRAGMA journal_mode=WAL;"
            )
        finally:
            connection.close()
    os.rename(unfinished, path)
    _sync_directory(os.path.dirname(path))


def migrate(connection: sqlite3.Connection, path: str, schema: Schema = SCHEMA) -> None:
    """Migrate an older log in one transaction. The caller holds the lock."""
    log_version = known(path, version_of(connection, path), schema)
    if log_version >= schema.version:
        return
    with transaction(connection):
        for version in range(log_version, schema.version):
            schema.migrations[version](connection)
        write_version(connection, schema.version)


def write_version(connection: sqlite3.Connection, version: int) -> None:
    """Write the version in the caller's transaction: with its other rows, or not at all."""
    connection.execute(f"PRAGMA user_version={version:d}")


def readable_columns(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the columns of an event; NULL for one that an older version lacks."""
    there = {row[1] for row in connection.execute("PRAGMA table_info(event)").fetchall()}
    if not there:
        raise StoreError("the log has no table of events")
    return tuple(name if name in there else "NULL" for name in COLUMNS)


def _version_in_wal(path: str) -> int:
    """Return the newest version that a WAL's committed frames give page 1; 0 if they do not touch
    it.

    A writer that was killed right after a migration leaves the new version only there. Nobody locks
    the WAL's own file, so it may be opened plainly."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        start = os.pread(descriptor, 32, 0)
        if len(start) < 32:
            return 0
        size, salts = struct.unpack(">I", start[8:12])[0], start[16:24]
        version = candidate = 0
        place = 32
        while len(head := os.pread(descriptor, 24, place)) == 24 and head[8:16] == salts:
            page, committed = struct.unpack(">II", head[:8])
            if page == 1:
                candidate = int.from_bytes(os.pread(descriptor, 4, place + 24 + 60))
            if committed:
                version = candidate
            place += 24 + size
        return int(version)
    finally:
        os.close(descriptor)


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
