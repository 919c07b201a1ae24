"""Converting events and headers to rows and back: any JSON that was received can be stored, any row
can be read. Large fields of a header are blobs, so that each is stored once."""

import sqlite3
from collections.abc import Iterable
from typing import Any

from rookery.core.header import EMPTY, VERSION, Header
from rookery.core.json import Event, Json, dumps, kind_of, loads

type Row = tuple[Any, ...]

INSERT = "INSERT INTO event (seq, at, kind, turn, cause, by, body) VALUES (?, ?, ?, ?, ?, ?, ?)"

COLUMNS = ("seq", "at", "cause", "by", "body")
"""The columns that `event_of` takes, in this order."""

CHUNKS = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
BULK = (*CHUNKS, "tool_call", "tool_call_update", "_terminal", "_raw", "_child")
"""The kinds that hold an agent's output: most of a log, and not needed for a later header."""


LARGE = 1024
"""Characters: a field longer than this (commands, options: 20 to 60 KB that hardly change) is kept
as a blob, so that the same content is stored once and not once per turn."""

REFERENCE = "$blob"

BEGINS = f'{{"v":{VERSION},%'
"""How those of this version begin, as SQL's LIKE takes it: whoever looks for one reads no other."""


def cell(connection: sqlite3.Connection, find: str, *values: object) -> Any:
    """Return the first field of the first row; None if there is none. No cursor stays open."""
    rows = connection.execute(find, values).fetchall()
    return rows[0][0] if rows else None


def selected(
    connection: sqlite3.Connection, columns: Iterable[str], where: str, *values: object
) -> list[Row]:
    """Return rows of events, by our own names of columns and conditions."""
    find = f"SELECT {', '.join(columns)} FROM event {where}"  # noqa: S608
    return connection.execute(find, values).fetchall()


def row_of(event: Event, turn: int, body: str) -> Row:
    cause, by = text_to_store(event.cause), text_to_store(event.by)
    return (event.seq, event.at, storable_kind(event.update), turn, cause, by, body)


def event_of(row: Row) -> Event:
    seq, at, cause, by, body = row
    return Event(
        seq,
        at if isinstance(at, int) else 0,
        cause if cause is None else text_from_store(cause),
        by if by is None else text_from_store(by),
        update_of(body),
    )


def events_of(rows: Iterable[Row]) -> list[Event]:
    return [event_of(row) for row in rows]


def update_of(body: object) -> Json:
    """Parse the stored update. One that was damaged from outside is shown raw, and hides no
    other."""
    try:
        update = loads(body) if isinstance(body, str) else None
    except ValueError as error:
        return _raw(body, str(error))
    if isinstance(update, dict):
        return update
    return _raw(body, "not an object")


def _raw(body: object, why: str) -> Json:
    value = body.hex() if isinstance(body, bytes) else body
    why = f"this row of the log is not an update: {why}"
    return {"sessionUpdate": "_raw", "source": "update", "value": value, "why": why}


# Causes and names come from clients and may hold lone surrogates, which SQLite cannot store. Such
# a text is stored as its JSON, in ASCII with quotes around; one that begins with a quote is too,
# so that no two texts are stored alike, and `knows` means exactly the id that was given.


def text_to_store(text: str | None) -> str | None:
    if text is None or (text.isascii() and text[:1] != '"'):
        return text
    return dumps(text) if text[:1] == '"' or not _is_unicode(text) else text


def text_from_store(stored: object) -> str | None:
    if not isinstance(stored, str):
        return None if stored is None else repr(stored)
    if stored[:1] != '"':
        return stored
    try:
        text = loads(stored)
    except ValueError:
        return stored
    return text if isinstance(text, str) else stored


def storable_kind(update: Json) -> str:
    """Return the kind for its column, which is only searched: the body has the kind as it came."""
    kind = kind_of(update)
    return kind if kind.isascii() or _is_unicode(kind) else dumps(kind)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- headers


def hash_of(data: bytes) -> str:
    import hashlib  # here: readers never need it, and it loads OpenSSL

    return hashlib.sha256(data).hexdigest()


def pack(header: Header) -> tuple[str, dict[str, bytes]]:
    """Return a header as it is stored, and the blobs it refers to."""
    fields, blobs = [], {}
    for key, value in header.raw.items():
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
    """Parse a stored header of the current version; return None if it is not one."""
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


def header_of(connection: sqlite3.Connection, text: object) -> Header | None:
    """Do as `unpack`, but return None unless every field that a fold continues from is present.
    Others may be: some are added only by the event that sets them."""
    header = unpack(connection, text)
    return Header(header) if header is not None and header.keys() >= EMPTY.raw.keys() else None


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
    data = cell(connection, "SELECT data FROM blob WHERE hash = ?", name)
    return data if isinstance(data, bytes) else None
