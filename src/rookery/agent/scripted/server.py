"""The scripted model's server: HTTP on loopback, one request per connection, each request kept.

Times are `time.monotonic_ns()`, which all processes of a machine share, for measurements."""

import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from rookery.agent.scripted.anthropic import Anthropic
from rookery.agent.scripted.choice import Chooser
from rookery.agent.scripted.conversation import Json
from rookery.agent.scripted.dialects import Chat, Dialect, Responses, error_body
from rookery.agent.scripted.gemini import Gemini
from rookery.agent.scripted.script import NAMED, Failure, Script, Turn, script_of

WAIT_TIMEOUT = 60.0
"""Seconds that `wait` waits for a request."""

KEPT = 1000
"""Requests that are remembered."""

KEYS = ("authorization", "x-api-key", "x-goog-api-key")
"""The headers in which the APIs have their key."""

LARGEST = 64 * 1024 * 1024  # bytes of a request

SIGN, GARBAGE = b"\\ufffd", b"\xff\xfe"
"""Text that cannot be decoded, in a script and on the wire."""

PATHS: dict[str, Callable[[Json], Dialect]] = {
    "/v1/chat/completions": Chat,
    "/v1/responses": Responses,
    "/v1/messages": Anthropic,
}
GEMINI = re.compile(r"(?:/v1\w*)?/models/([^/:]+):(generateContent|streamGenerateContent)")


def dialect_at(path: str) -> Callable[[Json], Dialect] | None:
    """Return the API that a request uses, by its path; None if it is none of them."""
    match = GEMINI.fullmatch(path)
    return partial(Gemini, model=match[1], method=match[2]) if match else PATHS.get(path)


@dataclass(eq=False)
class Asked:
    """A request to the model, as the server keeps it."""

    path: str
    key: str
    body: Json
    turn: Turn
    begun: int = 0
    """When its first bytes came."""
    received: int = field(default_factory=time.monotonic_ns)
    sent: int | None = None
    """When its first piece was written."""
    done: int | None = None
    """When the last byte of the answer was written."""
    ended: str = ""
    """How: answered, failed, dropped, or hung up (by the client)."""

    def as_json(self) -> Json:
        """Return the request for `GET /requests`, with only the end of a maybe real key."""
        key = f"…{self.key[-4:]}" if len(self.key) > 8 else "…" * bool(self.key)
        fields = {name: value for name, value in vars(self).items() if name != "turn"}
        return fields | {"key": key}


class ScriptedModel:
    """The server of a scripted model. Serves in `async with`, or in a thread: see `serving`."""

    def __init__(
        self, script: object, *, port: int = 0, on_request: Callable[[Asked], None] | None = None
    ) -> None:
        """`script`: a Script, or its JSON. Raises ScriptError."""
        self.chooser = Chooser(script if isinstance(script, Script) else script_of(script))
        self.asked: deque[Asked] = deque(maxlen=KEPT)
        self._news = threading.Condition()
        self.port = port
        """0: a free one, known once it serves."""
        self._on_request = on_request
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def wait(self, count: int, done: Callable[[Asked], bool] = lambda _: True) -> list[Asked]:
        """Block until `done` is true of this many requests, and return them."""

        def matches() -> list[Asked]:
            return [asked for asked in self.asked if done(asked)]

        with self._news:
            enough = self._news.wait_for(lambda: len(matches()) >= count, WAIT_TIMEOUT)
            assert enough, f"{len(matches())} of {count} requests in {WAIT_TIMEOUT:g} s"
            return matches()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, limit=2**20
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- one request -----------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # asyncio would print a cancelled one as an error.
            with suppress(
                ConnectionError,
                asyncio.IncompleteReadError,
                asyncio.LimitOverrunError,
                asyncio.CancelledError,
            ):
                await self._converse(_Exchange(reader, writer))
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _converse(self, exchange: "_Exchange") -> None:
        if not await exchange.read():
            return
        speak = dialect_at(exchange.path)
        if speak is not None and exchange.method == "POST":
            await self._answer(exchange, speak)
        elif (exchange.method, exchange.path) == ("GET", "/v1/models"):
            script = self.chooser.script
            about = {"object": "model", "created": 0, "owned_by": "rookery"}
            if failure := self.chooser.refusal(script.models[0], exchange.key):
                await exchange.fail(failure)
            else:
                models = [{"id": name, **about} for name in script.models]
                await exchange.send(200, {"object": "list", "data": models})
        elif (exchange.method, exchange.path) == ("GET", "/requests"):
            await exchange.send(200, [asked.as_json() for asked in self.asked])
        else:
            message = f"There is no {exchange.method} {exchange.path} here."
            await exchange.fail(NAMED["model"]._replace(message=message, code=None))

    async def _answer(self, exchange: "_Exchange", speak: Callable[[Json], Dialect]) -> None:
        try:
            body = json.loads(exchange.data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            message = "The body is not a JSON object."
            await exchange.fail(Failure(400, message, "invalid_request_error", None))
            return
        dialect = speak(body)
        refused = self.chooser.refusal(dialect.model, exchange.key) or dialect.objection()
        dialect.turn = Turn(failure=refused) if refused else self.chooser.next(dialect.read())
        asked = Asked(exchange.path, exchange.key, body, dialect.turn, exchange.begun)
        with self._news:
            self.asked.append(asked)
            self._news.notify_all()
        if self._on_request is not None:
            self._on_request(asked)
        try:
            asked.ended = await exchange.play(asked, dialect)
            asked.done = asked.done or time.monotonic_ns()
        except (ConnectionError, asyncio.CancelledError):
            asked.ended = "hung up"
            raise
        finally:
            with self._news:
                self._news.notify_all()


class _Exchange:
    """One request and its answer, after which the connection is closed."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.method = self.path = self.key = ""
        self.data = b""
        self.begun = 0

    async def read(self) -> bool:
        """Read the request. Returns False if it is none."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        self.begun = time.monotonic_ns()
        first = head[0].split(" ")
        if len(first) != 3:
            return False
        self.method, self.path = first[0], first[1].partition("?")[0]
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:])
        }
        given = (headers.get(name, "") for name in KEYS)
        self.key = next(filter(None, given), "").removeprefix("Bearer ").strip()
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return False
        if headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.data = await self.reader.readexactly(int(length))
        return True

    async def send(self, status: int, body: object, headers: tuple[str, ...] = ()) -> None:
        page = isinstance(body, str)
        data = (str(body) if page else json.dumps(body)).encode()
        length = f"Content-Length: {len(data)}"
        kind = "text/html" if page else "application/json"
        self.writer.write(_head(status, kind, length, *headers) + data)
        await self.writer.drain()

    async def fail(self, failure: Failure, dialect: Dialect | None = None) -> None:
        headers = _lines(failure.headers)
        body = dialect.failed(failure) if dialect else error_body(failure)
        await self.send(failure.status, failure.body or body, headers)

    async def play(self, asked: Asked, dialect: Dialect) -> str:
        """Answer as the script says. Returns how the answer ended."""
        gone = asyncio.create_task(self.reader.read(1), name="the client hangs up")
        try:
            return await self._play(asked, dialect, gone)
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await gone

    async def _play(self, asked: Asked, dialect: Dialect, gone: asyncio.Task[bytes]) -> str:
        turn = asked.turn
        streams = dialect.stream and not turn.unstreamed
        if await self._left(gone, turn.delay):
            return "hung up"
        if turn.failure is not None and (turn.after is None or not streams):
            await self.fail(turn.failure, dialect)
            return "failed"
        if streams and turn.drop != 0:
            # Chunked: else the client could not tell an early end from the real one.
            more = ("Transfer-Encoding: chunked", *_lines(turn.headers))
            self.writer.write(_head(200, "text/event-stream", *more))
            if begun := dialect.begin():
                self.writer.write(_chunk(begun))
            for number, piece in enumerate(dialect.pieces()):
                if number in (turn.drop, turn.hang, turn.after):
                    break
                asked.sent = asked.sent or time.monotonic_ns()
                self.writer.write(_chunk(piece.replace(SIGN, GARBAGE) if turn.garbled else piece))
                if turn.every and await self._left(gone, turn.every):
                    return "hung up"
            await self.writer.drain()
        if turn.drop is not None:
            self.writer.transport.abort()
            return "dropped"
        if turn.hang is not None:
            await gone
            return "hung up"
        if not streams:
            if await self._left(gone, turn.every * len(list(dialect.pieces()))):
                return "hung up"
            asked.sent = time.monotonic_ns()
            await self.send(200, dialect.whole(), _lines(turn.headers))
            return "answered"
        last = dialect.broken(turn.failure) if turn.failure else dialect.end()
        self.writer.write((b"" if turn.unmarked else _chunk(last)) + _chunk(b""))
        asked.done = time.monotonic_ns()
        await self.writer.drain()
        return "failed" if turn.failure else "answered"

    async def _left(self, gone: asyncio.Task[bytes], seconds: float) -> bool:
        """Wait this long. Returns whether the client has hung up."""
        if seconds:
            await asyncio.wait({gone}, timeout=seconds)
        return gone.done()


def _lines(headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(f"{name}: {value}" for name, value in headers)


def _head(status: int, kind: str, *more: str) -> bytes:
    lines = (f"HTTP/1.1 {status} Scripted", f"Content-Type: {kind}", *more, "Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _chunk(data: bytes) -> bytes:
    """Encode a chunk of the body; an empty one ends it."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@contextmanager
def serving(script: object, *, port: int = 0) -> Iterator[ScriptedModel]:
    """Serve a model in a thread of its own."""
    model = ScriptedModel(script, port=port)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scripted model")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(model.__aenter__(), loop).result()
        yield model
    finally:
        asyncio.run_coroutine_threadsafe(model.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
