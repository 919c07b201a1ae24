"""A raw connection to a worker's socket: says and hears frames, and nothing is done for it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from rookery.wire import frames

PATIENCE = 120.0


class Plug:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def open(cls, path: str, *, after: int = 0, name: str = "plug") -> AsyncIterator[Self]:
        """Connected and welcome; with no name, connected only."""
        reader, writer = await asyncio.open_unix_connection(path, limit=2 * frames.NEWS_BYTES)
        plug = cls(reader, writer)
        try:
            if name:
                await plug.write(frames.hello("test", name, after))
                await plug.until("welcome")
            yield plug
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def command(self, command: dict[str, Any]) -> None:
        await self.write(frames.encode("command", command))

    async def frame(self) -> tuple[str, Any] | None:
        """The next frame; None at the end."""
        async with asyncio.timeout(PATIENCE):
            line = await self._reader.readline()
        return frames.kind_and_body(json.loads(line)) if line else None

    async def until(self, kind: str) -> tuple[str, Any]:
        while (frame := await self.frame()) is not None:
            if frame[0] == kind:
                return frame
        raise AssertionError(f"the worker hung up before it said {kind}")

    async def all(self) -> list[tuple[str, Any]]:
        """Every frame up to the end."""
        found = []
        while (frame := await self.frame()) is not None:
            found.append(frame)
        return found
