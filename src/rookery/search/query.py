"""Querying the index: hits ordered by time, the newest first.

Nothing is ranked: a word that is in 800,000 rows is answered from the newest extents alone. Volumes
and extents are opened in the order of their newest row, as far as hits are asked for. The text
shown for a hit is read from its log, and a hit whose log does not have it is left out: the answer
is the same whenever the index was made."""

import heapq
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from rookery.core.json import Event, Json, lenient
from rookery.core.turn.rewinding import Ranges, is_hidden, ranges_of
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.place import has_wal
from rookery.log.reader import LAST, Reader
from rookery.log.schema import connect
from rookery.search import index as files
from rookery.search import terms
from rookery.search.snippets import Marker, Snippet
from rookery.search.texts import MAX_EVENTS, ROLES, Row, Rows

LIMIT = 20
MOST_HITS = 1000
PROBE = 300
"""Hits of a volume that are taken at once; where there are more, its extents are opened in turn."""

PAGE = 32
"""Hits of an extent that are taken at once."""

FIRST = 2048
"""Bytes of events that are read for a hit, and then more until its row is complete."""


class Filters(NamedTuple):
    agent: str = ""
    """The name of the session's agent."""
    directory: str = ""
    """The session works there, or below."""
    since: int = 0
    """Milliseconds of the epoch."""
    role: str = ""
    """One of ROLES."""
    session: str = ""


class Hit(NamedTuple):
    session: str
    seq: int
    """The event that has the first of the words."""
    at: int
    role: str
    snippet: Snippet
    title: str
    agent: str
    cwd: str

    def to_json(self) -> Json:
        """Return the hit as JSON. `marks`: the ranges of `text` that matched."""
        fields = self._asdict()
        del fields["snippet"]
        return fields | {"text": self.snippet.text, "marks": [list(m) for m in self.snippet.marks]}


class Answer(NamedTuple):
    hits: list[Hit]
    more: bool = False
    """Whether there are older ones."""
    problem: str = ""
    """Why the index could not be read."""


class _Hit(NamedTuple):
    """A row that matches the query."""

    at: int
    session: str
    seq: int
    part: int


EVERYTHING = Filters()


def query(home: str, text: str, filters: Filters = EVERYTHING, limit: int = LIMIT) -> Answer:
    """Return the newest hits for a query. Never raises because of the query or the files."""
    match = terms.match_of(text, filters.role if filters.role in ROLES else "")
    if not match:
        return Answer([])
    limit = max(1, min(limit, MOST_HITS))
    try:
        with ExitStack() as closing:
            connection = _opened(home, closing)
            if connection is None:
                return Answer([])
            marker = closing.enter_context(Marker(terms.match_of(text)))
            logs = closing.enter_context(_Logs(home))
            return _answer(logs, marker, _rows(connection, match, filters), limit)
    except (sqlite3.Error, OSError) as error:
        return Answer([], problem=f"{files.path(home)} cannot be read: {error}")


def _answer(logs: "_Logs", marker: Marker, matches: Iterator[_Hit], limit: int) -> Answer:
    hits: list[Hit] = []
    shown: set[tuple[str, Any]] = set()
    copies: dict[tuple[str, str, str], str] = {}
    for each in matches:
        row = logs.row(each)
        snippet = marker.snippet(row) if row else None
        if row is None or snippet is None:
            continue
        # An agent sends the output of a call again and again: it is one hit, the newest.
        key = (each.session, row.key) if row.role in ("tool", "other") and row.key[1] else None
        if key in shown:
            continue
        copied = logs.origin(each.session), row.role, snippet.text
        if copies.setdefault(copied, each.session) != each.session:
            continue  # a fork begins with a copy of its turns
        if len(hits) == limit:
            return Answer(hits, more=True)
        if key:
            shown.add(key)
        seq = row.seq_at(snippet.place)
        hits.append(Hit(each.session, seq, each.at, row.role, snippet, *logs.head(each.session)))
    return Answer(hits)


def _opened(home: str, closing: ExitStack) -> sqlite3.Connection | None:
    """Open the index; return None if there is none yet."""
    place = files.path(home)
    if not os.path.exists(place):
        return None
    # Where no file can be made beside it (a read-only disk, a full one), it is read without.
    still = (
        "&immutable=1" if not has_wal(place) and not os.access(files.folder(home), os.W_OK) else ""
    )
    connection = connect(place, f"mode=ro{still}")
    closing.callback(connection.close)
    connection.execute("PRAGMA query_only=1")
    try:
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    except sqlite3.OperationalError:
        connection = connect(place, "mode=ro&immutable=1")
        closing.callback(connection.close)
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return connection if version == files.VERSION else None


# --- rows, newest first --------------------------------------------------------------------------


def _rows(connection: sqlite3.Connection, match: str, filters: Filters) -> Iterator[_Hit]:
    """Yield the matching rows by time, newest first; then by session, then the later event
    first."""
    connection.execute("BEGIN")
    names = _sessions(connection, filters)
    volumes = connection.execute(
        "SELECT n, base, newest FROM volume WHERE newest >= ?", (filters.since,)
    )
    heap: list[tuple[Any, ...]] = [
        (-newest, 0, "", 0, 0, _Volume(connection, match, names, filters.since, n, base))
        for n, base, newest in volumes.fetchall()
    ]
    heapq.heapify(heap)
    while heap:
        at, is_row, session, seq, part, source = heapq.heappop(heap)
        if is_row:
            yield _Hit(-at, session, -seq, -part)
        else:
            for entry in source.opened():
                heapq.heappush(heap, entry)


def _sessions(connection: sqlite3.Connection, filters: Filters) -> dict[int, str]:
    """Return the sessions that may have hits, by number."""
    find, values = "SELECT n, id, cwd FROM session WHERE 1", list[str]()
    for column, value in (("agent", filters.agent), ("id", filters.session)):
        if value:
            find += f" AND {column} = ?"
            values.append(value.encode(errors="replace").decode())
    below = os.path.join(filters.directory, "") if filters.directory else ""
    rows = connection.execute(find, values).fetchall()
    return {n: name for n, name, cwd in rows if os.path.join(cwd, "").startswith(below)}


type Entry = tuple[Any, ...]
"""An entry of the heap: the time of its newest hit, then 0 for what is still to be opened, 1 for a
hit."""


class _Volume:
    def __init__(
        self,
        connection: sqlite3.Connection,
        match: str,
        names: dict[int, str],
        since: int,
        volume: int,
        base: int,
    ) -> None:
        self._link, self._match, self._names = connection, match, names
        self._since, self._volume, self._base = since, volume, base
        name = files.table(volume)
        self._find = (
            "SELECT w.rowid, r.session, r.seq, r.at, r.part"  # noqa: S608 — our own names
            f" FROM (SELECT rowid FROM {name} WHERE {name} MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid DESC LIMIT ?) w JOIN row r ON r.id = w.rowid"
        )

    def __lt__(self, other: object) -> bool:
        return False

    def opened(self) -> list[Entry]:
        rows = self.between(0, LAST, PROBE + 1)
        if len(rows) <= PROBE:
            return self.hits(rows)
        find = "SELECT session, first_row, last_row, newest FROM extent WHERE volume = ?"
        find += " AND newest >= ? AND last_row >= first_row"
        extents = self._link.execute(find, (self._volume, self._since)).fetchall()
        return [
            (-newest, 0, "", 0, 0, _Extent(self, first, last))
            for session, first, last, newest in extents
            if session in self._names
        ]

    def between(self, first: int, last: int, most: int) -> list[tuple[int, ...]]:
        return self._link.execute(self._find, (self._match, first, last, most)).fetchall()

    def hits(self, rows: list[tuple[int, ...]]) -> list[Entry]:
        return [
            (-at - self._base, 1, self._names[session], -seq, -part, None)
            for _, session, seq, at, part in rows
            if session in self._names and at + self._base >= self._since
        ]

    def entry(self, row: tuple[int, ...], extent: "_Extent") -> Entry:
        return (-row[3] - self._base, 0, "", 0, 0, extent)


class _Extent:
    def __init__(self, volume: _Volume, first: int, last: int) -> None:
        self._volume, self._first, self._last = volume, first, last

    def __lt__(self, other: object) -> bool:
        return False

    def opened(self) -> list[Entry]:
        rows = self._volume.between(self._first, self._last, PAGE)
        entries = self._volume.hits(rows)
        if len(rows) == PAGE:
            oldest = min(rows)
            self._last = oldest[0] - 1
            entries.append(self._volume.entry(oldest, self))
        return entries


# --- what hits show ------------------------------------------------------------------------------


class _Logs:
    """The logs that contain hits, each opened once."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._logs: dict[str, Reader | None] = {}
        self._heads: dict[str, tuple[str, str, str]] = {}
        self._origins: dict[str, str] = {}
        self._hidden: dict[str, Ranges] = {}
        """What a rewind took back: it is no part of the conversation."""

    def __enter__(self) -> "_Logs":
        return self

    def __exit__(self, *_: object) -> None:
        for log in self._logs.values():
            if log is not None:
                log.close()

    def row(self, match: _Hit) -> Row | None:
        """Return the row as it was indexed; None if the log no longer has it."""
        log = self._log(match.session)
        if log is None or is_hidden(self._hidden[match.session], match.seq):
            return None
        with suppress(LogError):
            rows, made = Rows(log.read(max(0, match.seq - 6), 5, match.seq - 1)), list[Row]()
            place, room = match.seq - 1, FIRST
            while not made and place < match.seq + 2 * MAX_EVENTS:
                events = log.stretch(place, room, match.seq + 2 * MAX_EVENTS)
                if place < match.seq and (not events or not _is(events[0], match)):
                    return None
                made = rows.take(events)
                place, room = (events[-1].seq, 4 * room) if events else (LAST, room)
            made += rows.finish(place)
            return next((r for r in made if (r.seq, r.part) == (match.seq, match.part)), None)
        return None

    def origin(self, session: str) -> str:
        """Follow forks back to the session that this one stems from; itself, if it is not a
        fork."""
        log = self._log(session)
        if log is None:
            return session
        if session not in self._origins:
            with suppress(LogError):
                source = lenient.text(log.header().forked_from, "id")
                self._origins[session] = self.origin(source) if source else session
        return self._origins.get(session, session)

    def head(self, session: str) -> tuple[str, str, str]:
        """Return a session's title, agent and directory."""
        if session not in self._heads:
            directory = paths.session_dir(self._home, session)
            head = paths.read_json(os.path.join(directory, paths.HEAD))
            title, agent, cwd = (lenient.text(head, key) for key in ("title", "agent", "cwd"))
            self._heads[session] = title, agent, cwd
        return self._heads[session]

    def _log(self, session: str) -> Reader | None:
        if session not in self._logs:
            self._logs[session], self._hidden[session] = None, []
            with suppress(LogError, paths.PathError):
                directory = paths.session_dir(self._home, session)
                self._logs[session] = Reader.open(directory)
                head = paths.read_json(os.path.join(directory, paths.HEAD)) or {}
                self._hidden[session] = ranges_of(head.get("hidden"))
        return self._logs[session]


def _is(event: Event, match: _Hit) -> bool:
    return (event.seq, event.at) == (match.seq, match.at)
