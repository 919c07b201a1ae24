"""A connection to a worker's socket."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from rookery.build import build
from rookery.core.json import Json, loads
from rookery.wire import frames
from rookery.wire.credentials import peer_of

LINE_BYTES = 2 * frames.COMMAND_BYTES
"""Of a frame: news are shorter, a call of a client's MCP server may be as long as a command."""


class Refused(Exception):
    """The worker did not take the connection."""


class Link:
    """One connection to a worker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(
        cls, path: str, client: str, after: int, offers: Sequence[str] = ()
    ) -> "Link | None":
        """None where nobody listens."""
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES)
        except (OSError, ValueError):
            return None
        link = cls(reader, writer)
        if link.peer[0] != os.geteuid():  # a name that is no file is anybody's to take
            await link.close()
            return None
        writer.write(frames.hello(build(), client, after, offers))
        return link

    @property
    def peer(self) -> tuple[int, int]:
        """The user and the process that listen there."""
        return peer_of(self._writer.get_extra_info("socket"))

    def command(self, command: Json) -> None:
        self._writer.write(frames.encode("command", command))

    def reply(self, call: str, result: Json | None) -> None:
        """Answer a call of the worker's; without a result it uses the disk."""
        body: Json = {"id": call} | ({} if result is None else {"result": result})
        if not self._writer.is_closing():
            self._writer.write(frames.encode("reply", body))

    def note(self, call: str, message: Json) -> None:
        """Before the answer to a call: what is to be heard of it meanwhile."""
        if not self._writer.is_closing():
            self._writer.write(frames.encode("note", {"id": call, "message": message}))

    async def frame(self) -> tuple[str, object] | None:
        """The next frame, or None at the end."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):
            return None
        if not line.endswith(b"\n"):
            return None
        kind, body = frames.kind_and_body(loads(line))
        if kind == "refused":
            message = body.get("message") if isinstance(body, dict) else None
            raise Refused(str(message or "The worker refused the connection."))
        return kind, body

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
