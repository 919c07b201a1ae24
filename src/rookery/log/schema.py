"""What a log file is, of which version, and how an older one is migrated.

A file is looked at before it is opened for writing: one of a later version, or that is no log,
stays as it is. Looking goes through SQLite, too: a plain close would drop SQLite's locks on it.
Migrations only add, so that a later build reads a log that a worker of the previous one still
writes. A session that has a field of `core/safety.py` has a version of its own, so that a build
which would ignore the field refuses the log.
"""

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

PATIENCE = 5.0
"""Seconds to wait for a foreign hand in the file; our own processes never wait for each other."""

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
    """A version of the file, and the way to it from each older one."""

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
    """A connection in autocommit, so that each BEGIN is written where it is meant."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file://{quoted}?{options}",
        uri=True,
        isolation_level=None,
        timeout=PATIENCE,
        check_same_thread=False,  # one thread at a time, but not always the same
    )
    connection.text_factory = _text
    return connection


def _text(data: bytes) -> str:
    """What a foreign hand left that is not UTF-8 is shown, and is no error."""
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
    """The version of the log at `path`; raises NoSession, NotALog or TooNew. Leaves no trace.

    Whoever is about to write looks into the WAL, too. A reader need not: it asks again when it has
    opened the log, and changes nothing in it.
    """
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
            found = version_of(connection, path)
        finally:
            connection.close()
    if wal:
        found = max(found, _version_in_wal(f"{path}-wal"))
    return known(path, found, schema)


def version_of(connection: sqlite3.Connection, path: str) -> int:
    [(application,)] = connection.execute("PRAGMA application_id").fetchall()
    if application != APPLICATION_ID:
        raise NotALog(f"{path} is not a Rookery log. It was not changed.")
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(version)


def known(path: str, found: int, schema: Schema) -> int:
    if found > schema.newest:
        raise TooNew(path, found, schema.newest)
    if any(version not in schema.migrations for version in range(found, schema.version)):
        raise NotALog(f"{path} has log format {found}, which no release of Rookery wrote.")
    return found


def create(path: str, schema: Schema = SCHEMA) -> None:
    """Make an empty log, whole or not at all. The caller holds the lock."""
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
    """Bring an older log up in one transaction. The caller holds the lock."""
    found = known(path, version_of(connection, path), schema)
    if found >= schema.version:
        return
    with transaction(connection):
        for version in range(found, schema.version):
            schema.migrations[version](connection)
        write_version(connection, schema.version)


def write_version(connection: sqlite3.Connection, version: int) -> None:
    """In the caller's transaction: with its other rows, or not at all."""
    connection.execute(f"PRAGMA user_version={version:d}")


def readable_columns(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The columns of an event; NULL for one that an older version lacks."""
    there = {row[1] for row in connection.execute("PRAGMA table_info(event)").fetchall()}
    if not there:
        raise StoreError("the log has no table of events")
    return tuple(name if name in there else "NULL" for name in COLUMNS)


def _version_in_wal(path: str) -> int:
    """The newest version that a WAL's committed frames give page 1; 0 where they do not touch it.

    A writer that was killed right after it brought a log up leaves the new version there alone.
    Nobody locks the WAL's own file, so that it may be opened plainly.
    """
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
