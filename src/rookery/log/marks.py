"""Headers stored inside a turn: one about every MiB, so that a turn of any length opens quickly at
its end.

A mark is a cache with a checksum, and its table may be missing: earlier builds neither read nor
write it. One that does not match, or follows an event of another turn, is ignored."""

import sqlite3
import zlib
from collections.abc import Iterator

from rookery.core.header import Header
from rookery.core.json import dumps
from rookery.log.rows import BEGINS, Row, cell, header_of, pack

TABLE = """
CREATE TABLE IF NOT EXISTS mark (
    seq INTEGER PRIMARY KEY,
    sum INTEGER NOT NULL,
    header TEXT NOT NULL
);
"""

KEEP = "INSERT OR REPLACE INTO mark (seq, sum, header) VALUES (?, ?, ?)"

APART = 1024 * 1024
"""How much of a log lies between two of them."""

SHARE = 8
"""A mark stands for this many times its own size, at least."""

EACH = 512
"""The weight of an event besides its text: reading and folding a small one costs as much."""


def weight(body: object) -> int:
    return EACH + (len(body) if isinstance(body, str | bytes) else 0)


def row(seq: int, header: Header) -> tuple[Row, dict[str, bytes]]:
    """Return a mark as it is stored, and the blobs it refers to."""
    text, blobs = pack(header)
    return (seq, _sum(seq, header), text), blobs


def any_between(connection: sqlite3.Connection, after: int, upto: int) -> bool:
    find = "SELECT 1 FROM mark WHERE seq > ? AND seq <= ? LIMIT 1"
    return cell(connection, find, after, upto) is not None


def newest(connection: sqlite3.Connection, after: int, upto: int) -> tuple[Header, int] | None:
    """Return the newest valid mark after the events between, and its number; None if there
    is none."""
    try:
        for seq, checked, text in _between(connection, after, upto):
            header = header_of(connection, text)
            turn = cell(connection, "SELECT turn FROM event WHERE seq = ?", seq)
            if header and _sum(seq, header) == checked and header.turn == turn:
                return header, seq
    except sqlite3.DatabaseError:  # no table, or damaged pages: the events say the same
        return None
    return None


def _between(connection: sqlite3.Connection, after: int, upto: int) -> Iterator[Row]:
    """Yield marks one at a time, newest first; mostly the first one will do."""
    find = (
        "SELECT seq, sum, header FROM mark WHERE seq > ? AND seq <= ? AND header LIKE ?"
        " ORDER BY seq DESC LIMIT 1"
    )
    while rows := connection.execute(find, (after, upto, BEGINS)).fetchall():
        yield rows[0]
        upto = rows[0][0] - 1


def _sum(seq: int, header: Header) -> int:
    return zlib.crc32(dumps([seq, header.raw]).encode())
