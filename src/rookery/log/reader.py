"""Reading a log, for everyone but the writer. A reader reads whole pages, takes no lock and keeps
no cursor open, which would keep the writer's WAL from starting over. Each call returns one
consistent state of the log."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rookery.core.header import Header
from rookery.core.json import Event
from rookery.log import ending, headers, rows, schema
from rookery.log.errors import StoreError, failures
from rookery.log.lock import LOCK_FILE, is_held
from rookery.log.place import copied, has_wal

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

LAST = 2**63 - 1
LONG_TURN = 1000
"""Events of a turn that is still read as a whole."""
"""The greatest seq that SQLite can hold."""


class Reader(AbstractContextManager["Reader", None]):
    """A reader of one log; get one from `open`. For one thread at a time."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        columns: tuple[str, ...],
        still: object = None,
        copy: "TemporaryDirectory[str] | None" = None,
    ) -> None:
        """`still`: the state of the files, if they are read as if nobody changed them. `copy`: the
        copy that is read instead of them."""
        self.path = path
        self._link = connection
        self._columns = columns
        self._still = still
        self._copy = copy

    @classmethod
    def open(cls, directory: str, *, form: schema.Schema = schema.SCHEMA) -> "Reader":
        """Open the log in a session's directory. Raises NoSession, NotALog, TooNew."""
        path = os.path.join(os.path.abspath(directory), schema.FILE)
        schema.look(path, form)
        try:
            return cls(path, *_connected(path, path, form))
        except StoreError:
            # SQLite makes a file beside a log to read it. Where it cannot (a read-only mount, a
            # full disk), a log without a WAL needs none, and one with a WAL is read from a copy.
            still = _standing(path)
            if still is None:
                raise
            if not has_wal(path):
                return cls(path, *_connected(path, path, form, immutable=True), still)
        copy = copied(path)
        place = os.path.join(copy.name, schema.FILE)
        return cls(path, *_connected(path, place, form), still, copy)

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection; one to files that did not change is replaced once they do."""
        old = self._still is not None and not self._link.in_transaction
        if old and _standing(self.path) != self._still:
            connection, _ = _connected(self.path, self.path, schema.SCHEMA)
            self._link.close()
            self._link, self._still = connection, None
        return self._link

    def last_seq(self) -> int:
        with failures(self.path):
            return headers.last_seq(self._connection)

    def read(self, after: int, limit: int = 1000, upto: int | None = None) -> list[Event]:
        """Return up to `limit` events after the event `after`, and no later than `upto`, in
        order."""
        end = LAST if upto is None else upto
        return self._events("WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, end, limit)

    def before(self, seq: int, limit: int = 1000) -> list[Event]:
        """Return events before the event `seq`, in order: the whole turns among the last `limit`. A
        turn that has more is returned whole, too, unless it has more than LONG_TURN: then its last
        `limit`."""
        with self._moment():
            events = self._events("WHERE seq < ? ORDER BY seq DESC LIMIT ?", seq, limit)[::-1]
            if len(events) < limit or not events:
                return events
            turn = headers.turn_of(self._connection, events[0].seq)
            first = headers.first_seq(self._connection, turn) or 0
            if first == events[0].seq:
                return events
            following = headers.first_seq(self._connection, turn + 1) or LAST
            whole = [event for event in events if event.seq >= following]
            if not whole and seq - first <= LONG_TURN:
                whole = self._events("WHERE seq >= ? AND seq < ? ORDER BY seq", first, seq)
        return whole or events

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        """Yield all events after the event `after`, reading page by page on demand."""
        while page := self.read(after, upto=upto):
            yield from page
            after = page[-1].seq

    def stretch(self, after: int, room: int, upto: int) -> list[Event]:
        """Return events after the event `after`, in order, until they have `room` bytes; at least
        one."""
        with failures(self.path):
            return ending.stretch(self._connection, after, upto, room, self._columns)

    def of_kinds(self, *kinds: str, after: int = 0) -> list[Event]:
        """Return all events of these kinds after the event `after`, in order: one pass over the
        log."""
        among = f"kind IN ({', '.join('?' * len(kinds))})"
        return self._events(f"WHERE seq > ? AND {among} ORDER BY seq", after, *kinds)

    def sent_by(self, senders: str, most: int) -> list[Event]:
        """Return the newest outcomes of commands whose `by` matches a GLOB pattern, newest first;
        the session's beginning may be one. Only commands are looked at."""
        among = "(seq = 1 OR cause > '') AND by GLOB ?"
        return self._events(f"WHERE {among} ORDER BY seq DESC LIMIT ?", senders, most)

    def turns(self) -> int:
        """Return the number of the last turn; 0 before the first prompt."""
        with failures(self.path):
            return int(rows.cell(self._connection, "SELECT max(turn) FROM event") or 0)

    def page(self, n: int) -> list[Event]:
        """Return the events of turn `n`."""
        return self._events("WHERE turn = ? ORDER BY seq", n)

    def header(self) -> Header:
        """Return the header after the last event."""
        return self.header_before(self.turns() + 1)

    def header_before(self, n: int) -> Header:
        """Return the header at the start of turn `n`; the last one if there is no such turn yet."""
        with self._moment():
            first = headers.first_seq(self._connection, n)
            seq = headers.last_seq(self._connection) if first is None else first - 1
            return headers.header_at(self._connection, seq, self._columns)

    def header_at(self, seq: int) -> Header:
        """Return the header after an event."""
        with self._moment():
            return headers.header_at(self._connection, seq, self._columns)

    def part(self, upto: int | None = None, room: int = ending.ROOM) -> ending.Part:
        """Return the end of the session, or the events up to `upto`: of one turn, and no more of it
        than opens at once."""
        with self._moment():
            last = headers.last_seq(self._connection) if upto is None else upto
            return ending.part(self._connection, last, room, self._columns)

    def some(self, numbers: Iterable[int]) -> list[Event]:
        """Return these events, in this order, as far as they exist and can be read at once."""
        with failures(self.path):
            return ending.some(self._connection, numbers, self._columns)

    def spans(self, n: int) -> tuple[int, int]:
        """Return the times of the first and the last event of turn `n`; zeros if it has none."""
        with failures(self.path):
            return headers.span(self._connection, n)

    def first_seq(self, n: int) -> int:
        """Return the first event of turn `n`, or of the next that has any; 0 past the last."""
        with failures(self.path):
            return headers.first_seq(self._connection, n) or 0

    def turn_of(self, seq: int) -> int:
        """Return the turn of an event."""
        with failures(self.path):
            return headers.turn_of(self._connection, seq)

    def outline(self, first: int, last: int, most: int) -> list[tuple[int, int, str, int]]:
        """Return seq, time, kind and turn of the events of these turns, in order and at most
        `most`; their contents are not read."""
        find = "SELECT seq, at, kind, turn FROM event WHERE turn BETWEEN ? AND ?"
        find += " ORDER BY turn, seq LIMIT ?"
        with failures(self.path):
            rows = self._connection.execute(find, (first, last, most)).fetchall()
        return [
            (seq, at if isinstance(at, int) else 0, str(kind), turn) for seq, at, kind, turn in rows
        ]

    def find(self, cause: str) -> Event | None:
        """Return the event that is the outcome of the command with this id."""
        events = self._events("WHERE cause = ?", rows.text_to_store(cause))
        return events[0] if events else None

    def blob(self, name: str) -> bytes | None:
        with failures(self.path):
            return rows.blob(self._connection, name)

    def damage(self) -> str:
        """Return the first fault of the file, every page of which is read; "" if it is sound."""
        try:
            with failures(self.path):
                verdict = rows.cell(self._connection, "PRAGMA quick_check(1)")
        except StoreError as error:
            return str(error)
        return "" if verdict == "ok" else f"{self.path} is damaged ({verdict})."

    def close(self) -> None:
        self._link.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _events(self, where: str, *values: Any) -> list[Event]:
        with failures(self.path):
            return rows.events_of(rows.selected(self._connection, self._columns, where, *values))

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """Make all reads in the block see one state of the log, whatever the writer does
        meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        with failures(self.path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")


def _connected(
    path: str, place: str, form: schema.Schema, *, immutable: bool = False
) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """Return a connection to the log at `place`, which errors call `path`, and its columns."""
    with failures(path), ExitStack() as undo:
        connection = schema.connect(place, "mode=ro&immutable=1" if immutable else "mode=ro")
        undo.callback(connection.close)
        connection.execute("PRAGMA query_only=1")
        schema.known(path, schema.version_of(connection, path), form)
        columns = schema.readable_columns(connection)
        undo.pop_all()
        return connection, columns


def _standing(path: str) -> object:
    """Return the state of a log's files, to compare; None while somebody writes."""
    if is_held(os.path.join(os.path.dirname(path), LOCK_FILE)):
        return None
    states: list[tuple[int, int]] = []
    for name in (path, f"{path}-wal"):
        with suppress(OSError):
            state = os.stat(name)
            states.append((state.st_size, state.st_mtime_ns))
    return states
