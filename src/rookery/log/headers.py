"""The header at any point of a log, without reading all of it: one is stored with each turn.

The rows of `turn` are a fold of the events and nothing else. Where one is missing, damaged or of
another version of the header, the nearest older one is folded forward.
"""

import sqlite3
from collections.abc import Iterable

from rookery.core.events import Json, dumps, loads
from rookery.core.header import EMPTY, VERSION, advance
from rookery.log.rows import COLUMNS, event_of

LARGE = 1024
"""Characters: a field longer than this (commands, options: 20 to 60 KB that hardly change) is kept
as a blob, so that the same content is stored once and not once per turn."""

BATCH = 2000
"""Events folded at a time."""

REFERENCE = "$blob"


def hash_of(data: bytes) -> str:
    import hashlib  # here: readers never need it, and it loads OpenSSL

    return hashlib.sha256(data).hexdigest()


def pack(header: Json) -> tuple[str, dict[str, bytes]]:
    """A header as it is stored, and the blobs it refers to."""
    fields, blobs = [], {}
    for key, value in header.items():
        # A real value that looks like a reference gets one more $ than it had.
        text = dumps({f"${next(iter(value))}": _only(value)} if _refers(value) else value)
        if len(text) > LARGE:
            data = text.encode()
            name = hash_of(data)
            blobs[name] = data
            text = dumps({REFERENCE: name})
        fields.append(f"{dumps(key)}:{text}")
    return "{" + ",".join(fields) + "}", blobs


def unpack(connection: sqlite3.Connection, text: object) -> Json | None:
    """The header of the current version that was stored as `text`; None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        header = loads(text)
        if not isinstance(header, dict) or header.get("v") != VERSION:
            return None
        for key, value in header.items():
            header[key] = _resolve(connection, value) if _refers(value) else value
    except ValueError:
        return None
    return header


def _resolve(connection: sqlite3.Connection, value: Json) -> object:
    if REFERENCE in value:
        value = loads(blob(connection, str(value[REFERENCE])) or "")
        if not _refers(value):
            return value
    return {next(iter(value))[1:]: _only(value)}


def _refers(value: object) -> bool:
    """Whether a value is a reference, or a value that was escaped so as not to look like one."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    key = next(iter(value))
    return isinstance(key, str) and key[:1] == "$" and key.lstrip("$") == "blob"


def _only(value: Json) -> object:
    return next(iter(value.values()))


def blob(connection: sqlite3.Connection, name: str) -> bytes | None:
    # Lone surrogates cannot be bound; and no blob is called anything but hexadecimal digits.
    if not name.isascii():
        return None
    rows = connection.execute("SELECT data FROM blob WHERE hash = ?", (name,)).fetchall()
    return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None


def header_at(connection: sqlite3.Connection, seq: int, columns: Iterable[str] = COLUMNS) -> Json:
    """The header after the event `seq`: from the nearest stored one, folded forward."""
    header, done = _nearest(connection, seq)
    page = (
        f"SELECT {', '.join(columns)} FROM event"  # noqa: S608 — our own column names
        " WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
    )
    while rows := connection.execute(page, (done, seq, BATCH)).fetchall():
        for row in rows:
            if changes := advance(header, event_of(row)):
                header = {**header, **changes}
        done = rows[-1][0]
    return header


def _nearest(connection: sqlite3.Connection, seq: int) -> tuple[Json, int]:
    """The newest usable header stored at or before `seq`, and the event it stands after."""
    older = (
        "SELECT n, last_seq, header FROM turn"
        " WHERE n < ? AND header IS NOT NULL ORDER BY n DESC LIMIT 1"
    )
    n = _turn_of(connection, seq) + 1
    while rows := connection.execute(older, (n,)).fetchall():
        n, last_seq, text = rows[0]
        if isinstance(last_seq, int) and last_seq <= seq:
            header = unpack(connection, text)
            if header is not None:
                return header, last_seq
    return dict(EMPTY), 0


def _turn_of(connection: sqlite3.Connection, seq: int) -> int:
    rows = connection.execute("SELECT turn FROM event WHERE seq = ?", (seq,)).fetchall()
    return int(rows[0][0]) if rows else 0


def first_seq(connection: sqlite3.Connection, n: int) -> int | None:
    """The first event of turn `n`, or of the next turn that has any."""
    first = "SELECT seq FROM event WHERE turn >= ? ORDER BY turn, seq LIMIT 1"
    rows = connection.execute(first, (n,)).fetchall()
    return int(rows[0][0]) if rows else None


def last_seq(connection: sqlite3.Connection) -> int:
    rows = connection.execute("SELECT max(seq) FROM event").fetchall()
    return int(rows[0][0] or 0)


def last_turn(connection: sqlite3.Connection) -> int:
    rows = connection.execute("SELECT max(turn) FROM event").fetchall()
    return int(rows[0][0] or 0)
