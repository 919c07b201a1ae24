"""The writer of a log: it holds the lock, appends in transactions, keeps the header.

When `append` returns, its events survive kill -9, and with `full=True` a power loss. When it
raises, nothing was written and the same drafts may be tried again (but if the sync failed and the
process dies, they may turn out to be there: ask `knows` before repeating a command)."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from functools import cache
from typing import NamedTuple

from rookery.core import safety
from rookery.core.clock_slip import CLOCK_SLIP
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json.events import Draft, Event, Json, dumps_short
from rookery.log import headers, marks, rows, schema
from rookery.log.errors import NoSession, failures
from rookery.log.lock import LOCK_FILE, Lock
from rookery.log.rows import BULK, INSERT, Row, cell, text_to_store, update_of

SETTINGS = """
PRAGMA synchronous=NORMAL;
PRAGMA fullfsync=1;
PRAGMA wal_autocheckpoint=1000;
PRAGMA journal_size_limit=4194304;
"""
# fullfsync: macOS does not otherwise wait for the disk. 1000 pages are 4 MiB; readers keep no
# cursor open, so that the WAL starts over there, and the limit gives back what it took meanwhile.

WAL = b"\x02\x02"
"""Bytes 18 and 19 of a file in WAL mode."""

CLOSING = 500
"""Milliseconds that a close waits for readers at work."""

KEEP_TURN = (
    "INSERT INTO turn (n, first_seq, last_seq, header) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (n) DO UPDATE SET last_seq = excluded.last_seq, header = excluded.header"
)
DROP = (
    "DELETE FROM event WHERE seq > ? AND seq <= ? AND turn < ? AND cause IS NULL AND kind IN ({})"
)
KEEP_BLOB = "INSERT OR IGNORE INTO blob (hash, data) VALUES (?, ?)"


def now() -> int:
    return time.time_ns() // 1_000_000


class State(NamedTuple):
    """The state at the end of the log; replaced as a whole once a transaction is committed."""

    header: Header
    seq: int
    at: int
    first_seq: int
    """Of the turn that events now belong to."""
    weight: int
    """Of the events since a header was stored."""


class Writer(AbstractContextManager["Writer", None]):
    """The writer of one log; get one from `open`. It holds the session's lock until `close`. For
    one thread at a time."""

    def __init__(
        self, path: str, lock: Lock, connection: sqlite3.Connection, clock: Callable[[], int]
    ) -> None:
        self.path = path
        self._lock = lock
        self._connection = connection
        self._clock = clock
        self._version = schema.version_of(connection, path)
        self._state, points = _state_of(connection)
        with suppress(sqlite3.Error):  # as without room for it
            self._raise_version()
            self._mark(points)
        self._marking = self._unmarked()
        self._pruned = 0
        """Up to here nothing is left that could be dropped."""

    @classmethod
    def open(
        cls,
        directory: str,
        *,
        create: bool = False,
        wait: float = 1.0,
        clock: Callable[[], int] = now,
        form: schema.Schema = schema.SCHEMA,
    ) -> "Writer":
        """Open or create a log. Raises Busy, TooNew, NotALog, NoSession (there is no log, and
        `create` is not set)."""
        directory = os.path.abspath(directory)
        path = os.path.join(directory, schema.FILE)
        if create and not os.path.lexists(path):
            os.makedirs(directory, mode=0o700, exist_ok=True)
            os.chmod(directory, 0o700)
        else:
            # Before the lock, too: its file is not made beside what is not ours.
            schema.look(path, form, wal=True)
        try:
            lock = Lock.acquire(os.path.join(directory, LOCK_FILE), wait)
        except FileNotFoundError as error:
            raise NoSession(f"{directory} was deleted just now") from error
        with ExitStack() as undo:
            undo.callback(lock.release)
            if create and not os.path.lexists(path):
                schema.create(path, form)
            schema.look(path, form, wal=True)
            with failures(path):
                connection = schema.connect(path, "mode=rw")
                undo.callback(connection.close)
                connection.executescript(SETTINGS)
                schema.migrate(connection, path, form)
                with suppress(sqlite3.Error):  # no space: then without
                    connection.executescript(marks.TABLE)
                writer = cls(path, lock, connection, clock)
            undo.pop_all()
            return writer

    @property
    def header(self) -> Header:
        """The header after the last event. Callers must not change it."""
        return self._state.header

    @property
    def last_seq(self) -> int:
        return self._state.seq

    @property
    def last_at(self) -> int:
        """The time of the last event; 0 before the first."""
        return self._state.at

    def stands(self) -> bool:
        """Return whether the files are still in their place: False once the session is deleted."""
        return self._lock.stands() and os.path.exists(self.path)

    def knows(self, cause: str) -> int | None:
        """Return the seq of the event with that cause; None if there is none."""
        find = "SELECT seq FROM event WHERE cause = ?"
        with failures(self.path):
            seq: int | None = cell(self._connection, find, text_to_store(cause))
        return seq

    def prompt_of(self, turn: int) -> Json | None:
        """Return the `_prompt` that began a turn."""
        find = "SELECT body FROM event WHERE seq = ? AND kind = '_prompt'"
        with failures(self.path):
            body = cell(self._connection, find, headers.first_seq(self._connection, turn))
        return None if body is None else update_of(body)

    def append(self, drafts: Sequence[Draft], *, full: bool = False) -> list[Event]:
        """Commit the drafts as events, all or none; raises Full, StoreError or Repeated.

        `full` syncs them to the disk, for what must survive a power loss: a prompt, an ask's
        outcome, a turn's end."""
        if not drafts:
            return []
        now, last = self._clock(), self._state.at
        # Times go on, unless a clock was far ahead when the last event was written.
        plan = _Plan(self._state, now if last > now + CLOCK_SLIP else max(last, now))
        for draft in drafts:
            plan.add(draft)
        with failures(self.path):
            if full:
                self._connection.execute("PRAGMA synchronous=FULL")
            try:
                self._commit(plan)
            finally:
                if full:
                    self._connection.execute("PRAGMA synchronous=NORMAL")
        self._state = plan.state
        return plan.events

    def prune(self, keep: int) -> int:
        """Drop from all but the last `keep` events what only shows when looking at an earlier turn;
        return how many were dropped. The file gets no smaller; its space is reused."""
        upto = self._state.seq - keep
        if upto <= self._pruned:
            return 0
        bounds = (self._pruned, upto, self._state.header.turn)
        with failures(self.path), schema.transaction(self._connection):
            drop = DROP.format(",".join("?" * len(BULK)))
            gone = self._connection.execute(drop, (*bounds, *BULK)).rowcount
        self._pruned = min(upto, self._state.first_seq - 1)
        return gone

    def mark_more(self) -> bool:
        """Do one step of adding marks to the last turn of a log that an earlier build wrote,
        reading about a MiB. Return whether there are more."""
        with suppress(sqlite3.Error, StopIteration):
            self._mark([next(self._marking)])
            return True
        return False

    def _raise_version(self) -> None:
        """Raise the version of a log that an earlier build wrote. If that fails, the next commit
        does it."""
        needed = safety.format_of(self._state.header)
        if needed > self._version:
            with schema.transaction(self._connection):
                schema.write_version(self._connection, needed)
            self._version = needed

    def _unmarked(self) -> Iterator[headers.Point]:
        """Yield the points where marks belong in the turn that was the last when the log was
        opened."""
        connection, (_, upto, _, first, _) = self._connection, self._state
        if upto - first < 2 or marks.any_between(connection, first - 1, upto):
            return
        before = headers.nearest(connection, first - 1)
        for point in headers.walk(connection, before, upto):
            if point.seq >= first - 1 and point != before and point.weight:
                yield point

    def _mark(self, points: Iterable[headers.Point]) -> None:
        made = [marks.row(point.seq, point.header) for point in points]
        if made:
            with schema.transaction(self._connection):
                for row, blobs in made:
                    self._connection.executemany(KEEP_BLOB, blobs.items())
                    self._connection.execute(marks.KEEP, row)

    def put_blob(self, data: bytes) -> str:
        """Store the bytes (once, however often they come); return the hash that `blob` takes."""
        name = rows.hash_of(data)
        with failures(self.path):
            self._connection.execute(KEEP_BLOB, (name, data))
        return name

    def blob(self, name: str) -> bytes | None:
        with failures(self.path):
            return rows.blob(self._connection, name)

    def close(self) -> None:
        """Empty the WAL into the file, then free the lock. Calling it again does nothing."""
        try:
            # What cannot be emptied now (no space, a reader at work) stays safe in the WAL.
            with suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout={CLOSING}")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()
        finally:
            self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _commit(self, plan: "_Plan") -> None:
        connection = self._connection
        version = max(self._version, safety.format_of(plan.state.header))
        with schema.transaction(connection):
            if version > self._version:
                schema.write_version(connection, version)
            connection.executemany(INSERT, plan.rows)
            if plan.turns or plan.marks:
                connection.executemany(KEEP_BLOB, plan.blobs.items())
                connection.executemany(KEEP_TURN, plan.turns)
            try:
                connection.executemany(marks.KEEP, plan.marks)
            except sqlite3.Error:  # it only caches: no event is lost for it
                if not connection.in_transaction:
                    raise
        self._version = version


class _Plan:
    """The rows that one transaction writes, and the state after it; complete before anything is
    written."""

    def __init__(self, state: State, at: int) -> None:
        self.state = state
        self.events: list[Event] = []
        self.rows: list[Row] = []
        self.turns: list[Row] = []
        self.marks: list[Row] = []
        self.blobs: dict[str, bytes] = {}
        self._at = at

    def add(self, draft: Draft) -> None:
        before, seq = self.state, self.state.seq + 1
        body = dumps_short(draft.update)
        event = Event(seq, self._at, draft.cause, draft.by, draft.update)
        header, first, weight = before.header, before.first_seq, before.weight
        if advance(header, event):
            # From what is stored, so that a header shares nothing with the caller's dict and is
            # the same whether it was kept or is folded from the file.
            event = event._replace(update=update_of(body))
            header = header.with_(**advance(header, event))
        if header.turn != before.header.turn:
            # Late updates belong to the turn that ended: its row is written again as it stood.
            self._keep(before)
            first, weight = seq, 0
            self.turns.append((header.turn, first, None, None))
        weight += marks.weight(body)
        self.state = State(header, seq, self._at, first, weight)
        self.events.append(event)
        self.rows.append(rows.row_of(event, header.turn, body))
        if event.update.get("sessionUpdate") == "_turn" and event.update.get("state") == "idle":
            self._keep(self.state)
            self.state = self.state._replace(weight=0)
        elif weight >= marks.APART:
            row, blobs = marks.row(seq, header)
            self.blobs |= blobs
            self.marks.append(row)
            # A large header is stored less often: marks stay a small part of the log.
            size = len(row[-1]) + sum(map(len, blobs.values()))
            self.state = self.state._replace(weight=min(0, marks.APART - marks.SHARE * size))

    def _keep(self, state: State) -> None:
        text, blobs = rows.pack(state.header)
        self.blobs |= blobs
        self.turns.append((state.header.turn, state.first_seq, state.seq, text))


def image(drafts: Sequence[Draft], at: int) -> tuple[bytes, State]:
    """Build in memory the file of a new log with these events, all of that time; return it and its
    state. That takes a tenth of what writing a file takes. Turns cannot begin in it."""
    plan = _Plan(State(EMPTY, 0, 0, 1, 0), at)
    for draft in drafts:
        plan.add(draft)
    assert not plan.turns
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(_blank())
        connection.executemany(INSERT, plan.rows)
        schema.write_version(
            connection, max(schema.SCHEMA.version, safety.format_of(plan.state.header))
        )
        data = bytearray(connection.serialize())
    data[18:20] = WAL
    return bytes(data), plan.state


@cache
def _blank() -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(
            f"PRAGMA application_id={schema.APPLICATION_ID}; {schema.TABLES}; {marks.TABLE}"
        )
        return bytes(connection.serialize())


def _state_of(connection: sqlite3.Connection) -> tuple[State, list[headers.Point]]:
    """Return the state at the end of the log, and the points on the way there that lack a mark."""
    seq = headers.last_seq(connection)
    at = cell(connection, "SELECT at FROM event WHERE seq = ?", seq)
    points: list[headers.Point] = []
    for point in headers.walk(connection, headers.nearest(connection, seq), seq):
        if points and point.header.turn != points[-1].header.turn:
            points = points[-1:]  # the one before a turn: a page begins there
        points.append(point)
    last = points.pop()
    first = headers.first_seq(connection, last.header.turn) or 1
    state = State(last.header, seq, at if isinstance(at, int) else 0, first, last.weight)
    return state, [each for each in points if each.weight]
