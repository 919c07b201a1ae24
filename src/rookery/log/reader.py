"""Everyone but the writer: reads whole pages, takes no lock and keeps no cursor open, which would
keep the writer's WAL from starting over. What one call returns is of one moment of the log."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rookery.core.json import Event, Json
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
    """Get one from `open`. For one thread at a time."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        columns: tuple[str, ...],
        still: object = None,
        copy: "TemporaryDirectory[str] | None" = None,
    ) -> None:
        """`still`: how the files stood, where they are read as if nobody changed them. `copy`:
        where they are read instead."""
        self.path = path
        self._link = connection
        self._columns = columns
        self._still = still
        self._copy = copy

    @classmethod
    def open(cls, directory: str, *, form: schema.Schema = schema.SCHEMA) -> "Reader":
        """Raises NoSession, NotALog, TooNew."""
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
        """One to files that stood still is made anew once they do not any more."""
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
        """Up to `limit` events after the event `after`, and no later than `upto`, in order."""
        end = LAST if upto is None else upto
        return self._events("WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, end, limit)

    def before(self, seq: int, limit: int = 1000) -> list[Event]:
        """Events before the event `seq`, in order: the whole turns among the last `limit`. A turn
        that has more is whole, too, unless it has more than LONG_TURN: of that, the last `limit`.
        """
        with self._moment():
            found = self._events("WHERE seq < ? ORDER BY seq DESC LIMIT ?", seq, limit)[::-1]
            if len(found) < limit or not found:
                return found
            turn = headers.turn_of(self._connection, found[0].seq)
            first = headers.first_seq(self._connection, turn) or 0
            if first == found[0].seq:
                return found
            following = headers.first_seq(self._connection, turn + 1) or LAST
            whole = [event for event in found if event.seq >= following]
            if not whole and seq - first <= LONG_TURN:
                whole = self._events("WHERE seq >= ? AND seq < ? ORDER BY seq", first, seq)
        return whole or found

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        """All events after the event `after`, read page by page as they are asked for."""
        while page := self.read(after, upto=upto):
            yield from page
            after = page[-1].seq

    def stretch(self, after: int, room: int, upto: int) -> list[Event]:
        """Events after the event `after`, in order, until they have `room` bytes: one at least."""
        with failures(self.path):
            return ending.stretch(self._connection, after, upto, room, self._columns)

    def of_kinds(self, *kinds: str, after: int = 0) -> list[Event]:
        """All events of these kinds after the event `after`, in order: one pass over the log."""
        among = f"kind IN ({', '.join('?' * len(kinds))})"
        return self._events(f"WHERE seq > ? AND {among} ORDER BY seq", after, *kinds)

    def sent_by(self, senders: str, most: int) -> list[Event]:
        """The newest outcomes of commands whose `by` matches a GLOB pattern, newest first; the
        session's beginning may be one. Only commands are looked at."""
        among = "(seq = 1 OR cause > '') AND by GLOB ?"
        return self._events(f"WHERE {among} ORDER BY seq DESC LIMIT ?", senders, most)

    def turns(self) -> int:
        """The number of the last turn; 0 before the first prompt."""
        with failures(self.path):
            return int(rows.cell(self._connection, "SELECT max(turn) FROM event") or 0)

    def page(self, n: int) -> list[Event]:
        """The events of turn `n`."""
        return self._events("WHERE turn = ? ORDER BY seq", n)

    def header(self) -> Json:
        """As the log stands now."""
        return self.header_before(self.turns() + 1)

    def header_before(self, n: int) -> Json:
        """The header at the start of turn `n`; the last one where there is no such turn yet."""
        with self._moment():
            first = headers.first_seq(self._connection, n)
            seq = headers.last_seq(self._connection) if first is None else first - 1
            return headers.header_at(self._connection, seq, self._columns)

    def header_at(self, seq: int) -> Json:
        """The header after an event."""
        with self._moment():
            return headers.header_at(self._connection, seq, self._columns)

    def part(self, upto: int | None = None, room: int = ending.ROOM) -> ending.Part:
        """The end of the session, or what stands up to an event: of one turn, and no more of it
        than opens at once."""
        with self._moment():
            last = headers.last_seq(self._connection) if upto is None else upto
            return ending.part(self._connection, last, room, self._columns)

    def some(self, numbers: Iterable[int]) -> list[Event]:
        """These events, in this order, as far as they are there and can be read at once."""
        with failures(self.path):
            return ending.some(self._connection, numbers, self._columns)

    def spans(self, n: int) -> tuple[int, int]:
        """When the first and the last event of turn `n` were; zeros where it has none."""
        with failures(self.path):
            return headers.span(self._connection, n)

    def first_seq(self, n: int) -> int:
        """The first event of turn `n`, or of the next that has any; past the last: 0."""
        with failures(self.path):
            return headers.first_seq(self._connection, n) or 0

    def turn_of(self, seq: int) -> int:
        """The turn of an event."""
        with failures(self.path):
            return headers.turn_of(self._connection, seq)

    def outline(self, first: int, last: int, most: int) -> list[tuple[int, int, str, int]]:
        """Seq, time, kind and turn of the events of these turns, in order and at most so many: what
        they say is not read."""
        find = "SELECT seq, at, kind, turn FROM event WHERE turn BETWEEN ? AND ?"
        find += " ORDER BY turn, seq LIMIT ?"
        with failures(self.path):
            found = self._connection.execute(find, (first, last, most)).fetchall()
        return [
            (seq, at if isinstance(at, int) else 0, str(kind), turn)
            for seq, at, kind, turn in found
        ]

    def find(self, cause: str) -> Event | None:
        """The event that is the outcome of the command with this id."""
        events = self._events("WHERE cause = ?", rows.text_to_store(cause))
        return events[0] if events else None

    def blob(self, name: str) -> bytes | None:
        with failures(self.path):
            return rows.blob(self._connection, name)

    def damage(self) -> str:
        """The first fault of the file, every page of which is read; "": it is sound."""
        try:
            with failures(self.path):
                found = rows.cell(self._connection, "PRAGMA quick_check(1)")
        except StoreError as error:
            return str(error)
        return "" if found == "ok" else f"{self.path} is damaged ({found})."

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
        """All that the block reads is of one moment, whatever the writer does meanwhile."""
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
    """A connection to the log at `place`, which is called `path` in errors; and its columns."""
    with failures(path), ExitStack() as undo:
        connection = schema.connect(place, "mode=ro&immutable=1" if immutable else "mode=ro")
        undo.callback(connection.close)
        connection.execute("PRAGMA query_only=1")
        schema.known(path, schema.version_of(connection, path), form)
        columns = schema.readable_columns(connection)
        undo.pop_all()
        return connection, columns


def _standing(path: str) -> object:
    """How the files of a log stand; None while somebody writes."""
    if is_held(os.path.join(os.path.dirname(path), LOCK_FILE)):
        return None
    found: list[tuple[int, int]] = []
    for name in (path, f"{path}-wal"):
        with suppress(OSError):
            state = os.stat(name)
            found.append((state.st_size, state.st_mtime_ns))
    return found
