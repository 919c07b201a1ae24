"""Connections passed on byte by byte between the inside and the outside of a sandbox."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

PIECE = 64 * 1024
BACKLOG = 256
"""Connections that wait to be taken."""
MAX_CONNECTIONS = 256
"""Connections at once: each takes two descriptors of this process."""

type Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    """Passes each connection to `listener` on to what `reach` opens; if that fails, it is closed.
    To be made in a running loop."""

    def __init__(self, listener: socket.socket, reach: Callable[[], Awaitable[Streams]]) -> None:
        self._reach = reach
        self._open = 0
        served = asyncio.start_server(self._serve, sock=listener, limit=PIECE)
        self._serving = asyncio.create_task(forever(served), name="relay")

    def close(self) -> None:
        self._serving.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            with suppress(OSError):
                if self._open <= MAX_CONNECTIONS:
                    await joined((reader, writer), await self._reach())
        finally:
            self._open -= 1
            writer.close()


def listening(folder: str, name: str) -> socket.socket:
    """Return a unix socket that listens in a folder. Its path may be longer than a socket's can be:
    it is bound by way of its folder. Raises OSError."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(f"/proc/self/fd/{held}/{name}")
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(held)
    return listener


def port_here(port: int) -> Callable[[], Awaitable[Streams]]:
    """Return a function that opens connections to a port of this machine's loopback interface."""
    return lambda: asyncio.open_connection("localhost", port, limit=PIECE)


async def forever(starting: Coroutine[Any, Any, asyncio.Server]) -> None:
    async with await starting as server:
        await server.serve_forever()


async def joined(near: Streams, far: Streams) -> None:
    """Pass data both ways until both sides have ended, or one is gone."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_copied(near[0], far[1]), name="relay out")
            group.create_task(_copied(far[0], near[1]), name="relay in")
    except* OSError:
        pass  # one side has gone
    finally:
        far[1].close()


async def _copied(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(PIECE):
        sink.write(piece)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
