"""A header as it is stored, and back: large fields are blobs, so that each is stored once."""

import sqlite3

from rookery.core.header import EMPTY, VERSION
from rookery.core.json.events import Json, dumps, loads

LARGE = 1024
"""Characters: a field longer than this (commands, options: 20 to 60 KB that hardly change) is kept
as a blob, so that the same content is stored once and not once per turn."""

REFERENCE = "$blob"

BEGINS = f'{{"v":{VERSION},%'
"""How those of this version begin, as SQL's LIKE takes it: whoever looks for one reads no other."""


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


def header_of(connection: sqlite3.Connection, text: object) -> Json | None:
    """As `unpack`, where every field is there that a fold goes on from."""
    header = unpack(connection, text)
    return header if header is not None and header.keys() == EMPTY.keys() else None


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
