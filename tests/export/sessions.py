"""Homes with a session in them, made of updates as agents send them."""

import struct
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rookery.core.json.events import Draft, Json
from rookery.home import paths
from rookery.log.store import Writer

BEGAN = 1_800_000_000_000


def home_of(
    place: Path, *updates: Json, session: str = "a1b2c3", blobs: Iterable[bytes] = ()
) -> str:
    """A home with one session, whose events are two seconds apart."""
    home = str(place / "home")
    paths.ensure_home(home)
    directory = Path(paths.session_dir(home, session))
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Writer.open(str(directory), create=True, clock=_clock()) as log:
        for blob in blobs:
            log.put_blob(blob)
        for update in updates:
            log.append([Draft(update)])
    return home


def _clock() -> Callable[[], int]:
    ticks = iter(range(BEGAN, BEGAN + 10**10, 2_000))
    return lambda: next(ticks)


def session(**fields: Any) -> Json:
    said = {"id": "a1b2c3", "cwd": "/work/shop", "agent": "claude", "created": BEGAN}
    return {"sessionUpdate": "_session", **said, **fields}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def prompt(words: str, *more: Json) -> Json:
    return {"sessionUpdate": "_prompt", "prompt": [text(words), *more]}


def chunk(words: str, kind: str = "message") -> Json:
    return {"sessionUpdate": f"agent_{kind}_chunk", "content": text(words)}


def tool(name: str, title: str, kind: str, status: str = "completed", **more: Any) -> Json:
    fields = {"toolCallId": name, "title": title, "kind": kind, "status": status}
    return {"sessionUpdate": "tool_call", **fields, **more}


def said(words: str) -> list[Json]:
    return [{"type": "content", "content": text(words)}]


def turn(state: str, **more: Any) -> Json:
    return {"sessionUpdate": "_turn", "state": state, **more}


def png(wide: int = 8, high: int = 8, colour: tuple[int, int, int] = (11, 122, 133)) -> bytes:
    rows = b"".join(b"\0" + bytes(colour) * wide for _ in range(high))
    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
