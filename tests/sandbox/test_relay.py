"""Bytes through a sandbox's wall."""

import asyncio
import os
from pathlib import Path

from rookery.sandbox import relay


async def test_bytes_pass_both_ways_and_ends_too(tmp_path: Path) -> None:
    """Through a folder whose path is too long for a socket's, to a port of this machine."""
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.read()  # until the other side has said everything
        writer.write(heard[::-1])
        writer.close()

    far = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = far.sockets[0].getsockname()[1]
    near = relay.Relay(relay.listening(str(folder), "near.s"), relay.port_here(port))
    held = os.open(folder, os.O_RDONLY)
    path = f"/proc/self/fd/{held}/near.s"
    said = bytes(range(256)) * 4000
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(said)
    writer.write_eof()
    assert await reader.read() == said[::-1]
    writer.close()

    far.close()
    await far.wait_closed()
    for _ in range(2):  # nobody is there: closed, and the next one is still taken
        reader, writer = await asyncio.open_unix_connection(path)
        assert await reader.read() == b""
        writer.close()
    near.close()
    os.close(held)
