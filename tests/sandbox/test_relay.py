"""Bytes through a sandbox's wall."""

import asyncio
from pathlib import Path

from rookery.sandbox import relay


async def test_I17_4_bytes_pass_both_ways_and_ends_too(tmp_path: Path) -> None:
    """Through a folder whose path is too long for a socket's."""
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()

    seen: list[object] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(writer)
        heard = await reader.read()  # until the other side has said everything
        writer.write(heard[::-1])
        writer.close()

    far = await asyncio.start_server(answer, sock=relay.listening(str(folder), "far.s"))
    near = relay.Relay(
        relay.listening(str(folder), "near.s"), lambda: relay.connected(str(folder), "far.s")
    )
    said = bytes(range(256)) * 4000
    reader, writer = await relay.connected(str(folder), "near.s")
    writer.write(said)
    writer.write_eof()
    assert await reader.read() == said[::-1]
    writer.close()

    far.close()
    (folder / "far.s").unlink()
    reader, writer = await relay.connected(str(folder), "near.s")
    assert await reader.read() == b""  # nobody is there: closed, and the next one is still taken
    writer.close()
    reader, writer = await relay.connected(str(folder), "near.s")
    assert await reader.read() == b""
    writer.close()

    # What is inside cannot lead us to a socket of this side.
    far = await asyncio.start_server(answer, sock=relay.listening(str(tmp_path), "other.s"))
    (folder / "far.s").symlink_to(tmp_path / "other.s")
    seen.clear()
    reader, writer = await relay.connected(str(folder), "near.s")
    assert await reader.read() == b""
    assert seen == []
    writer.close()
    far.close()
    near.close()
    await far.wait_closed()
