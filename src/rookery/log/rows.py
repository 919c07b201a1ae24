"""An event as a row and back: any JSON that came can be stored, any row can be read."""

from collections.abc import Iterable
from typing import Any

from rookery.core.json.events import Event, Json, dumps, kind_of, loads

type Row = tuple[Any, ...]

INSERT = "INSERT INTO event (seq, at, kind, turn, cause, by, body) VALUES (?, ?, ?, ?, ?, ?, ?)"

COLUMNS = ("seq", "at", "cause", "by", "body")
"""What `event_of` takes, in this order."""

CHUNKS = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
BULK = (*CHUNKS, "tool_call", "tool_call_update", "_terminal", "_raw")
"""What an agent said and did: most of a log, and no part of a later header."""


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
    """The stored update. One that was damaged from outside is shown raw, and hides no other."""
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
    """For the column alone, which is only searched: the body has the kind as it came."""
    kind = kind_of(update)
    return kind if kind.isascii() or _is_unicode(kind) else dumps(kind)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
