"""A model on loopback that plays a script: real agents talk to it, and tests read what they said.

Every request is kept with the conversation that it carried, so that a test can see what an agent
remembers; that an agent hung up in the middle of an answer is told by an event.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.vendors import script
from tests.vendors.dialects import DIALECTS, Dialect, Sse
from tests.vendors.script import Fail, Move, Part, Run, Say, Slow

type Json = dict[str, Any]

PACE = 0.05
"""Seconds between two words of a slow answer."""

PATIENCE = 60.0
"""Seconds until a test that waits for a request gives up."""

LONGEST = 2400
"""Words of a slow answer: nobody listens for that long."""


class Asked:
    """A request for an answer."""

    def __init__(self, path: str, body: Json, parts: list[Part], move: Move) -> None:
        self.path = path
        self.body = body
        self.parts = parts
        self.move = move
        self.hung_up = asyncio.Event()
        """The agent left before the answer was over."""

    def heard(self, words: str, role: str | None = None) -> bool:
        """Whether the conversation holds these words (of the user's, the model's or a tool's)."""
        return any(words in part.text and role in (None, part.role) for part in self.parts)

    @property
    def main(self) -> bool:
        """One of the conversation itself, no title and no summary."""
        return bool(self.body.get("tools"))


class Llm:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.others: list[str] = []
        """Requests for something else than an answer: method and path."""
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def main(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.main]

    async def wait_main(self, count: int) -> None:
        """Until so many requests of the conversation were made."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: len(self.main()) >= count)

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # A cancelled one is at its end, too: asyncio would print it as an error.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._converse(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request: the connection is closed after it, so that its end is seen."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in map(_halves, head[1:])}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        dialect = DIALECTS.get(path.partition("?")[0])
        if dialect is None or method != "POST":
            self.others.append(f"{method} {path}")
            await _send(writer, 404, {"error": {"message": "not scripted"}})
            return
        body = json.loads(data)
        parts = dialect.parts(body)
        move = script.next_move(parts, tools=bool(body.get("tools")))
        asked = Asked(path, body, parts, move)
        async with self._news:
            self.asked.append(asked)
            self._news.notify_all()
        await self._answer(asked, dialect, reader, writer)

    async def _answer(
        self,
        asked: Asked,
        dialect: Dialect,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        id = os.urandom(8).hex()
        if isinstance(asked.move, Fail):
            await _send(writer, asked.move.status, dialect.error(asked.move.status))
            return
        if not asked.body.get("stream"):
            text = asked.move.text if isinstance(asked.move, Say) else script.FILLER
            await _send(writer, 200, dialect.whole(id, text))
            return
        writer.write(_head(200, "text/event-stream"))
        match asked.move:
            case Run(command):
                _write(writer, dialect.run(id, command))
            case Say(text):
                _write(
                    writer, [*dialect.begin(id), *dialect.text(id, text), *dialect.end(id, text)]
                )
            case Slow():
                await self._drip(asked, dialect, id, reader, writer)
        await writer.drain()

    async def _drip(
        self,
        asked: Asked,
        dialect: Dialect,
        id: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        _write(writer, dialect.begin(id))
        gone = asyncio.create_task(reader.read(1), name="the agent hangs up")
        try:
            for _ in range(LONGEST):
                _write(writer, dialect.text(id, script.SLOW_WORD))
                await asyncio.wait({gone}, timeout=PACE)
                if gone.done():
                    asked.hung_up.set()
                    return
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await gone
        _write(writer, dialect.end(id, script.SLOW_WORD * LONGEST))


def _halves(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _head(status: int, kind: str, *more: str) -> bytes:
    lines = (f"HTTP/1.1 {status} Scripted", f"Content-Type: {kind}", *more, "Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _write(writer: asyncio.StreamWriter, events: Iterable[Sse]) -> None:
    writer.write(b"".join(event.encode() for event in events))


async def _send(writer: asyncio.StreamWriter, status: int, body: Json) -> None:
    data = json.dumps(body).encode()
    # An agent that tries again by itself would make a failing turn last for minutes.
    lasting = ("x-should-retry: false",) if status >= 400 else ()
    length = f"Content-Length: {len(data)}"
    writer.write(_head(status, "application/json", length, *lasting) + data)
    await writer.drain()


@asynccontextmanager
async def listening() -> AsyncIterator[Llm]:
    llm = Llm()
    await llm.listen()
    try:
        yield llm
    finally:
        await llm.close()
