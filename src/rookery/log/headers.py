"""Computing the header at any point of a log: one is stored with each turn, and marks inside long
turns.

The rows of `turn` and `mark` only cache a fold of the events. If one is missing, damaged or of
another version, the nearest older one is folded forward."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.log import marks
from rookery.log.rows import BEGINS, BULK, COLUMNS, cell, event_of, header_of, selected

BATCH = 2000
"""Events folded at a time."""

FAR = 4 * marks.APART
"""A reader that finds no stored header this near, in a log that an earlier build wrote, leaves out
what the agent said and did above it: that is no part of what a client is told of a header."""


class Point(NamedTuple):
    """The header after an event, and how much of the log lies since the last stored one."""

    seq: int
    header: Header
    weight: int


def walk(
    connection: sqlite3.Connection, start: Point, upto: int, columns: Iterable[str] = COLUMNS
) -> Iterator[Point]:
    """Fold from one point to another; yield where the next mark belongs, before each turn, and the
    last point."""
    seq, header, weight = start
    page = "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
    while rows := selected(connection, columns, page, seq, upto, BATCH):
        for row in rows:
            if changes := advance(header, event_of(row)):
                if "turn" in changes:
                    yield Point(seq, header, weight)
                    weight = 0
                header = header.with_(**changes)
            seq, weight = row[0], weight + marks.weight(row[-1])
            if weight >= marks.APART:
                yield Point(seq, header, weight)
                weight = 0
    yield Point(seq, header, weight)


def header_at(connection: sqlite3.Connection, seq: int, columns: Iterable[str] = COLUMNS) -> Header:
    """Return the header after the event `seq`, for readers: the nearest stored one, folded forward;
    see FAR."""
    start = nearest(connection, seq)
    if (edge := _edge(connection, start.seq, seq)) > start.seq:
        find = f"WHERE seq > ? AND seq <= ? AND kind NOT IN {BULK} ORDER BY seq"
        header = start.header
        for row in selected(connection, columns, find, start.seq, edge):
            header = header.with_(**advance(header, event_of(row)))
        start = Point(edge, header, 0)
    *_, last = walk(connection, start, seq, columns)
    return last.header


def _edge(connection: sqlite3.Connection, after: int, upto: int) -> int:
    """Return where the part near `upto` begins; `after` if all of it is near."""
    back = "SELECT seq, body FROM event WHERE seq > ? AND seq <= ? ORDER BY seq DESC LIMIT ?"
    weight, last = 0, upto
    while rows := connection.execute(back, (after, last, BATCH // 10)).fetchall():
        for seq, body in rows:
            weight += marks.weight(body)
            if weight > FAR:
                return int(seq)
        last = rows[-1][0] - 1
    return after


def nearest(connection: sqlite3.Connection, seq: int) -> Point:
    """Return the newest usable header stored at or before `seq`."""
    header, done = _of_turns(connection, seq)
    mark = marks.newest(connection, done, seq)
    return Point(mark[1], mark[0], 0) if mark else Point(done, header, 0)


def _of_turns(connection: sqlite3.Connection, seq: int) -> tuple[Header, int]:
    older = (
        "SELECT n, last_seq, header FROM turn WHERE n < ? AND header LIKE ? ORDER BY n DESC LIMIT 1"
    )
    n = turn_of(connection, seq) + 1
    while rows := connection.execute(older, (n, BEGINS)).fetchall():
        n, last_seq, text = rows[0]
        if isinstance(last_seq, int) and last_seq <= seq:
            header = header_of(connection, text)
            if header is not None:
                return header, last_seq
    return EMPTY, 0


def turn_of(connection: sqlite3.Connection, seq: int) -> int:
    """Return the turn of the event `seq`, or of the last event before it that is left."""
    find = "SELECT turn FROM event WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
    return int(cell(connection, find, seq) or 0)


def first_seq(connection: sqlite3.Connection, n: int) -> int | None:
    """Return the first event of turn `n`, or of the next turn that has any."""
    first = "SELECT seq FROM event WHERE turn >= ? ORDER BY turn, seq LIMIT 1"
    seq: int | None = cell(connection, first, n)
    return seq


def last_seq(connection: sqlite3.Connection) -> int:
    return int(cell(connection, "SELECT max(seq) FROM event") or 0)


def span(connection: sqlite3.Connection, n: int) -> tuple[int, int]:
    """Return the times of a turn's first and last event."""
    find = "SELECT at FROM event WHERE turn = ? ORDER BY seq {} LIMIT 1"
    ends = [cell(connection, find.format(way), n) for way in ("", "DESC")]
    first, last = (at if isinstance(at, int) else 0 for at in ends)
    return first, last
