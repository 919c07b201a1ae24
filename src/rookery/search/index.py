"""The search index: one SQLite file of the home, beside a lock. It only caches the logs, and may be
deleted at any time.

The text itself is not in it: FTS5 stores which word is where (`content=''`), and the text shown for
a hit is read from the log. Rows are in volumes, each an FTS5 table of its own. A volume is dropped
as a whole when one of its sessions is deleted or its log was replaced, and the rest of it is
indexed again: so nothing of a deleted session is left, on every version of SQLite.

An extent is a run of rows of one session, made of a run of events. Events in no extent are still to
be indexed."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import NamedTuple

from rookery.home import paths
from rookery.log.lock import LOCK_FILE, Lock
from rookery.log.schema import connect
from rookery.search import terms
from rookery.search.texts import Row

FOLDER = "search"
VERSION = 1
"""The version of the file, and of how texts and words are made: another version is another file."""

FILE = f"words-{VERSION}.db"

ROWS, TEXT = 131_072, 32 * 1024 * 1024
"""Rows and bytes of text of a volume: as many as are indexed again, at most, for one deletion."""

SETTINGS = """
PRAGMA synchronous=NORMAL;
PRAGMA cache_size=-8192;
PRAGMA secure_delete=OFF;
PRAGMA journal_size_limit=4194304;
"""

TABLES = """
CREATE TABLE session (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT '', cwd TEXT NOT NULL DEFAULT ''
);
CREATE TABLE volume (
    n INTEGER PRIMARY KEY, base INTEGER NOT NULL, newest INTEGER NOT NULL,
    rows INTEGER NOT NULL DEFAULT 0, text INTEGER NOT NULL DEFAULT 0,
    neat INTEGER NOT NULL DEFAULT 0, full INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE extent (
    n INTEGER PRIMARY KEY, volume INTEGER NOT NULL, session INTEGER NOT NULL,
    first_row INTEGER NOT NULL, last_row INTEGER NOT NULL,
    first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
    newest INTEGER NOT NULL, print INTEGER NOT NULL
);
CREATE INDEX extent_session ON extent (session, first_seq);
CREATE INDEX extent_volume ON extent (volume, newest);
CREATE TABLE row (id INTEGER PRIMARY KEY, session INTEGER, seq INTEGER, at INTEGER, part INTEGER);
"""

MAKE_WORDS = (
    f"CREATE VIRTUAL TABLE {{0}} USING fts5"
    f"(text, content='', columnsize=0, detail=full, tokenize='{terms.TOKENIZER}')",
    # Less is merged while much is added; a volume is merged once when it is full.
    "INSERT INTO {0} ({0}, rank) VALUES ('automerge', 8)",
    "INSERT INTO {0} ({0}, rank) VALUES ('hashsize', 8388608)",
    "INSERT INTO {0} ({0}, rank) VALUES ('pgsz', 8000)",
)

NEAT = 4096
"""Rows, at least, after which an update brings the open volume into its smallest form."""


class Damaged(Exception):
    """The file is not an index, or a damaged one: it is built again."""


class Extent(NamedTuple):
    n: int
    volume: int
    first_seq: int
    last_seq: int
    print: int
    """Of its last event, by which a log that was replaced is known."""


class Known(NamedTuple):
    """A session in the index."""

    n: int
    stamp: str


class Stretch(NamedTuple):
    """The rows of a run of events of one session."""

    session: int
    first_seq: int
    last_seq: int
    at: int
    """Of the last event."""
    print: int
    rows: Sequence[Row]


def folder(home: str) -> str:
    return os.path.join(home, FOLDER)


def path(home: str) -> str:
    return os.path.join(folder(home), FILE)


def table(volume: int) -> str:
    return f"words_{volume}"


class Index(AbstractContextManager["Index", None]):
    """The index, for its one writer. Get one from `open`; it holds the lock until `close`."""

    def __init__(self, lock: Lock, connection: sqlite3.Connection) -> None:
        self._lock = lock
        self._link = connection
        self._volume = self._rows = self._text = self._base = self._extent = 0
        self._continue()

    @classmethod
    def open(cls, home: str, wait: float = 0.0) -> "Index":
        """Open the index; create it if there is none that can be read. Raises Busy, OSError,
        sqlite3.Error (the disk is full)."""
        place = folder(home)
        paths.make_private(place)
        with ExitStack() as undo:
            lock = Lock.acquire(os.path.join(place, LOCK_FILE), wait)
            undo.callback(lock.release)
            try:
                connection = _opened(home)
            except (Damaged, sqlite3.Error) as error:
                if not is_damage(error):
                    raise
                remove(home)
                connection = _opened(home)
            undo.callback(connection.close)
            index = cls(lock, connection)
            undo.pop_all()
            return index

    def stands(self) -> bool:
        """Return False once its files were deleted: what is written now is lost."""
        return self._lock.stands()

    def close(self) -> None:
        try:
            with suppress(sqlite3.Error):
                self._link.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._link.close()
        finally:
            self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Commit all that the block writes, or nothing."""
        self._link.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._link.execute("COMMIT")
        finally:
            if self._link.in_transaction:
                self._link.execute("ROLLBACK")
            self._continue()

    # --- sessions

    def sessions(self) -> dict[str, Known]:
        rows = self._link.execute("SELECT id, n, stamp FROM session").fetchall()
        return {name: Known(n, stamp) for name, n, stamp in rows}

    def admit(self, session: str) -> int:
        self._link.execute("INSERT OR IGNORE INTO session (id) VALUES (?)", (session,))
        rows = self._link.execute("SELECT n FROM session WHERE id = ?", (session,)).fetchall()
        return int(rows[0][0])

    def note(self, session: int, stamp: str, agent: str, cwd: str) -> None:
        """Record the state of a session's log, all of which is indexed, and the fields to filter
        by."""
        change = "UPDATE session SET stamp = ?, agent = ?, cwd = ? WHERE n = ?"
        self._link.execute(change, (stamp, _storable(agent), _storable(cwd), session))

    def extents(self, session: int) -> list[Extent]:
        find = (
            "SELECT n, volume, first_seq, last_seq, print FROM extent WHERE session = ?"
            " ORDER BY first_seq"
        )
        return [Extent(*row) for row in self._link.execute(find, (session,)).fetchall()]

    # --- rows

    def add(self, stretch: Stretch) -> None:
        """Add the rows of events that are in no extent so far."""
        if self._rows >= ROWS or self._text >= TEXT:
            self._fill()
        if not self._volume:
            self._begin(stretch.at)
        row = first = self._next_row()
        size = 0
        entries, texts = [], []
        for item in stretch.rows:
            text = terms.indexed(item.text, item.role)
            size += len(text)
            entries.append((row, stretch.session, item.seq, item.at - self._base, item.part))
            texts.append((row, text))
            row += 1
        insert = f"INSERT INTO {table(self._volume)} (rowid, text) VALUES (?, ?)"  # noqa: S608
        self._link.executemany(insert, texts)
        self._link.executemany("INSERT INTO row VALUES (?, ?, ?, ?, ?)", entries)
        self._keep(stretch, first, row - 1)
        change = (
            "UPDATE volume SET rows = rows + ?, text = text + ?, newest = max(newest, ?)"
            " WHERE n = ?"
        )
        self._link.execute(change, (len(entries), size, stretch.at, self._volume))
        self._rows, self._text = self._rows + len(entries), self._text + size

    def _keep(self, stretch: Stretch, first: int, last: int) -> None:
        """Record the rows as an extent, or as an extension of the last one."""
        more = (
            "UPDATE extent SET last_row = ?, last_seq = ?, newest = ?, print = ? WHERE n = ?"
            " AND volume = ? AND session = ? AND last_seq = ?"
        )
        ends = (last, stretch.last_seq, stretch.at, stretch.print)
        own = (self._extent, self._volume, stretch.session, stretch.first_seq - 1)
        if self._link.execute(more, (*ends, *own)).rowcount:
            return
        insert = (
            "INSERT INTO extent (volume, session, first_row, last_row, first_seq, last_seq, newest,"
            " print) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        begins = (self._volume, stretch.session, first, last, stretch.first_seq, *ends[1:])
        self._extent = self._link.execute(insert, begins).lastrowid or 0

    def drop(self, volumes: Iterable[int]) -> None:
        """Drop volumes; the sessions in them are to be indexed again."""
        for volume in sorted(set(volumes)):
            ends = "SELECT min(first_row), max(last_row) FROM extent WHERE volume = ?"
            [(first, last)] = self._link.execute(ends, (volume,)).fetchall()
            if first is not None:
                self._link.execute("DELETE FROM row WHERE id BETWEEN ? AND ?", (first, last))
            again = (
                "UPDATE session SET stamp = '' WHERE n IN"
                " (SELECT session FROM extent WHERE volume = ?)"
            )
            self._link.execute(again, (volume,))
            self._link.execute("DELETE FROM extent WHERE volume = ?", (volume,))
            self._link.execute("DELETE FROM volume WHERE n = ?", (volume,))
            self._link.execute(f"DROP TABLE IF EXISTS {table(volume)}")
        self._continue()

    def forget(self, sessions: Iterable[int]) -> None:
        """Forget sessions whose extents were dropped."""
        self._link.executemany("DELETE FROM session WHERE n = ?", [(n,) for n in sessions])

    def shrink(self) -> None:
        """Return free pages to the disk."""
        self._link.execute("PRAGMA incremental_vacuum").fetchall()
        self._link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def is_loose(self) -> bool:
        """Return whether much of the file is free pages."""
        [(free,)] = self._link.execute("PRAGMA freelist_count").fetchall()
        [(pages,)] = self._link.execute("PRAGMA page_count").fetchall()
        return bool(free > max(256, pages // 20))

    # --- volumes

    def _continue(self) -> None:
        """Load the position at which to append, after opening the file or a failed transaction."""
        open_ = "SELECT n, rows, text, base FROM volume WHERE full = 0 ORDER BY n DESC LIMIT 1"
        rows = self._link.execute(open_).fetchall()
        self._volume, self._rows, self._text, self._base = rows[0] if rows else (0, 0, 0, 0)
        [(last,)] = self._link.execute(
            "SELECT max(n) FROM extent WHERE volume = ?", (self._volume,)
        ).fetchall()
        self._extent = last or 0

    def _begin(self, at: int) -> None:
        insert = "INSERT INTO volume (base, newest) VALUES (?, ?)"
        self._volume = self._link.execute(insert, (at, at)).lastrowid or 0
        self._rows = self._text = self._extent = 0
        self._base = at
        for statement in MAKE_WORDS:
            self._link.execute(statement.format(table(self._volume)))

    def _fill(self) -> None:
        """Close a volume that gets no more rows, and compact it."""
        self._merge()
        self._link.execute("UPDATE volume SET full = 1 WHERE n = ?", (self._volume,))
        self._volume = 0

    def neaten(self) -> None:
        """Compact the open volume, if it has grown by much."""
        find = "SELECT n FROM volume WHERE n = ? AND rows - neat > max(?, neat / 4)"
        if self._link.execute(find, (self._volume, NEAT)).fetchall():
            with self.changes():
                self._merge()

    def _merge(self) -> None:
        name = table(self._volume)
        self._link.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")  # noqa: S608
        self._link.execute("UPDATE volume SET neat = rows WHERE n = ?", (self._volume,))

    def _next_row(self) -> int:
        [(last,)] = self._link.execute("SELECT max(id) FROM row").fetchall()
        return (last or 0) + 1


def _opened(home: str) -> sqlite3.Connection:
    place = path(home)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    if not os.path.lexists(place):
        os.close(os.open(place, flags | os.O_EXCL, 0o600))
    with ExitStack() as undo:
        connection = connect(place, "mode=rw")
        undo.callback(connection.close)
        if not _version(connection):
            connection.executescript(
                "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
                f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version={VERSION}; COMMIT;"
            )
        connection.executescript(SETTINGS)
        connection.execute("SELECT 1 FROM session, volume, extent, row LIMIT 1").fetchall()
        undo.pop_all()
        return connection


def _version(connection: sqlite3.Connection) -> int:
    """Return the version of the file; 0 if it is new. Raises Damaged."""
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    if version not in (0, VERSION):
        raise Damaged
    return int(version)


def remove(home: str) -> None:
    """Delete the file. The caller holds the lock."""
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.unlink(path(home) + end)


def is_damage(error: Exception) -> bool:
    """Return whether an index must be rebuilt; otherwise the disk is full, or it cannot be
    written."""
    if isinstance(error, Damaged):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return True
    # A table that should be there is missing, or has other columns.
    return code == sqlite3.SQLITE_ERROR and "no such" in str(error)


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode()
