"""Reading the end of a turn, as much of it as opens at once: backward to the beginning of a block,
or to the middle of one that alone is larger than that."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.header import Header
from rookery.core.json import Event
from rookery.log import headers, marks
from rookery.log.rows import CHUNKS, Row, events_of, selected

ROOM = 5 * 1024 * 1024
"""How much of what is shown opens at once."""

MOST_READ = 16 * 1024 * 1024
"""How much is read for that: most of what a tool put out is never shown."""

CARD, EACH = 64 * 1024, 2048
"""An event that is not text counts as EACH plus its size up to CARD: no more of it is shown, and
showing one takes that much, however short it is."""

TEXTS = frozenset({*CHUNKS, "compaction_summary_chunk", "_terminal"})
ASIDES = frozenset({"usage_update", "session_info_update", "available_commands_update"})
"""Kinds that may come in the middle of a message."""


class Part(NamedTuple):
    """Events of one turn, and the header before them."""

    header: Header
    events: list[Event]
    above: bool
    """Whether the turn has more above."""


def part(connection: sqlite3.Connection, upto: int, room: int, columns: tuple[str, ...]) -> Part:
    """Return the end of the turn of the event `upto`, up to that event."""
    first = headers.first_seq(connection, headers.turn_of(connection, upto)) or 1
    rows = _backward(connection, first, upto, room, columns)
    above = bool(rows) and rows[0][1] > first
    if above:
        rows = rows[_beginning(rows, room) :]
    before = rows[0][1] - 1 if rows else upto
    header = headers.header_at(connection, before, columns)
    return Part(header, events_of(row[1:] for row in rows), above)


def _backward(
    connection: sqlite3.Connection, first: int, upto: int, room: int, columns: tuple[str, ...]
) -> list[Row]:
    """Return kind and columns of the last events, in their order. One that is too large for the
    space left is included if there would be little else."""
    back = (
        f"SELECT kind, {', '.join(columns)} FROM event"  # noqa: S608 — our own column names
        " WHERE seq >= ? AND seq <= ? ORDER BY seq DESC"
    )
    rows: list[Row] = []
    read = shown = 0
    cursor = connection.execute(back, (first, upto))
    for row in cursor:
        read, shown = read + marks.weight(row[-1]), shown + _shown(row)
        if shown > room and shown - _shown(row) >= room // 2:
            break
        rows.append(row)
        if shown > room or read >= MOST_READ:
            break
    cursor.close()
    return rows[::-1]


def _shown(row: Row) -> int:
    size = marks.weight(row[-1])
    return size if row[0] in TEXTS else EACH + min(size, CARD)


def _beginning(rows: list[Row], room: int) -> int:
    """Return where the first whole block begins: half a message is left out, unless it is most of
    what there is. (A call or a terminal is shown with its beginning, wherever that is.)"""
    kind, left = rows[0][0], room // 2
    for place, row in enumerate(rows):
        if row[0] != kind and row[0] not in ASIDES:
            return place
        left -= _shown(row)
        if left < 0 or kind not in CHUNKS:
            break
    return 0


def stretch(
    connection: sqlite3.Connection, after: int, upto: int, room: int, columns: tuple[str, ...]
) -> list[Event]:
    """Return events after the given one, in order, as many as are read at once."""
    rows: list[Row] = []
    cursor = connection.execute(
        f"SELECT {', '.join(columns)} FROM event"  # noqa: S608 — our own column names
        " WHERE seq > ? AND seq <= ? ORDER BY seq",
        (after, upto),
    )
    for row in cursor:
        rows.append(row)
        room -= marks.weight(row[-1])
        if room <= 0:
            break
    cursor.close()
    return events_of(rows)


def some(
    connection: sqlite3.Connection, numbers: Iterable[int], columns: tuple[str, ...]
) -> list[Event]:
    """Return single events, as far as they exist and can be read at once."""
    rows: list[Row] = []
    read = 0
    for number in numbers:
        if read < MOST_READ:
            rows += selected(connection, columns, "WHERE seq = ?", number)
            read += marks.weight(rows[-1][-1]) if rows else 0
    return events_of(rows)
