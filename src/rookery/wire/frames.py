"""The frames of our own sockets: newline JSON objects with one key each, which says what the frame
is.

client to worker   hello {protocol, build, client, from, offers}, then command {id, do, …},
                   reply {id, result}, and before it note {id, message}
worker to client   welcome {protocol, build, session, seq, control}, then
                   event {seq, at, cause, by, update},
                   behind {seq}  (an event too large for a frame: read the file),
                   lagged {seq}  (events were left out: read the file up to there),
                   refused {reason, message}, trouble {reason, message},
                   call {id, method, params}  (to one client that offers the method; never logged),
                   uncall {id}  (the answer is not wanted any more)

`control` names an abstract socket with the same frames, the only one that takes the user's answers
where the agent is confined. A client that sees a gap in `seq` reads the log's file.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rookery.build import build
from rookery.core.json import Event, Json, dumps, loads
from rookery.core.refusals import Fixed
from rookery.wire.credentials import peer_of

if TYPE_CHECKING:
    import asyncio

PROTOCOL = 1

NEWS_BYTES = 64 * 1024
"""A larger event is announced by its number only."""

COMMAND_BYTES = 1024 * 1024
"""Ceiling of one line from a client."""

BUFFER_BYTES = 1024 * 1024
"""The most that is buffered for one slow client; beyond it, the client is told that it lags."""

LINE_BYTES = 2 * COMMAND_BYTES
"""The longest frame: events are shorter, a call of a client's MCP server may be as long as a
command."""


def encode(kind: str, body: Any) -> bytes:
    return dumps({kind: body}).encode("ascii") + b"\n"


def encode_event(event: Event) -> bytes:
    # A large one is not even encoded: that would be two more copies of it.
    if _is_large(event.update):
        return encode("behind", event.seq)
    line = encode("event", event._asdict())
    return line if len(line) <= NEWS_BYTES else encode("behind", event.seq)


def _is_large(update: Json) -> bool:
    """Whether the update's texts alone are too long for a frame; it may be nested to any depth."""
    left, waiting = NEWS_BYTES, [iter(update.values())]
    while waiting and left >= 0:
        value = next(waiting[-1], waiting)
        if value is waiting:
            waiting.pop()
        elif isinstance(value, str):
            left -= len(value)
        elif isinstance(value, dict):
            waiting.append(iter(value.values()))
        elif isinstance(value, list):
            left -= len(value)
            waiting.append(iter(value))
    return left < 0


def hello(build: str, client: str, after: int, offers: Sequence[str] = ()) -> bytes:
    body = {"protocol": PROTOCOL, "build": build, "client": client, "from": after}
    return encode("hello", body | ({"offers": list(offers)} if offers else {}))


def kind_and_body(frame: object) -> tuple[str, Any]:
    """Return a frame's kind and body; ("", frame) if it is not a frame."""
    if isinstance(frame, dict) and len(frame) == 1:
        kind, body = next(iter(frame.items()))
        return str(kind), body
    return "", frame


def refused(reason: str, message: str) -> bytes:
    return encode("refused", {"reason": reason, "message": message})


def misfit(asked: object, build: str) -> str:
    """Return why a worker and a client of different protocols cannot talk, and which of them to
    replace."""
    remedy = "It is older than this client; to replace it: rookery stop --now, then a prompt."
    if isinstance(asked, int) and asked < PROTOCOL:
        remedy = "This client is older; to update it: rookery update"
    other = str(asked)[:20]
    return f"The session's worker (build {build}) speaks protocol {PROTOCOL}, not {other}. {remedy}"


def trouble(reason: str, message: str) -> bytes:
    return encode("trouble", {"reason": reason, "message": message})


def command_of(body: object) -> Json | None:
    """Return the command in a frame, if it has an id and names an operation."""
    if (
        isinstance(body, dict)
        and isinstance(body.get("id"), str)
        and isinstance(body.get("do"), str)
    ):
        return body if 0 < len(body["id"]) <= 200 else None
    return None


class WorkerRefused(Fixed):
    """The worker did not accept the connection."""

    reason = "worker_refused"


class Link:
    """One connection to a worker."""

    def __init__(self, reader: "asyncio.StreamReader", writer: "asyncio.StreamWriter") -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(
        cls, path: str, client: str, after: int, offers: Sequence[str] = ()
    ) -> "Link | None":
        """Connect to a worker; return None if nobody listens."""
        import asyncio  # `ps` needs frames, and no loop

        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES)
        except (OSError, ValueError):
            return None
        link = cls(reader, writer)
        if link.peer[0] != os.geteuid():  # a name that is no file is anybody's to take
            await link.close()
            return None
        writer.write(hello(build(), client, after, offers))
        return link

    @property
    def peer(self) -> tuple[int, int]:
        """The user and the process that listen there."""
        return peer_of(self._writer.get_extra_info("socket"))

    def command(self, command: Json) -> None:
        self._writer.write(encode("command", command))

    def reply(self, call: str, result: Json | None) -> None:
        """Answer a call of the worker's; without a result the worker uses the disk."""
        body: Json = {"id": call} | ({} if result is None else {"result": result})
        if not self._writer.is_closing():
            self._writer.write(encode("reply", body))

    def note(self, call: str, message: Json) -> None:
        """Send a message about a call before its reply."""
        if not self._writer.is_closing():
            self._writer.write(encode("note", {"id": call, "message": message}))

    async def frame(self) -> tuple[str, object] | None:
        """Return the next frame, or None at the end."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):
            return None
        if not line.endswith(b"\n"):
            return None
        kind, body = kind_and_body(loads(line))
        if kind == "refused":
            message = body.get("message") if isinstance(body, dict) else None
            raise WorkerRefused(str(message or "The worker refused the connection."))
        return kind, body

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
