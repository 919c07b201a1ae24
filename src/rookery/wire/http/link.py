"""A connection to an agent over Streamable HTTP.

1. The first message is `initialize`; its response names the connection (`Acp-
   Connection-Id`).
2. The server sends over two streams of events: one of the connection, and one of the
   session (`Acp-Session-Id`), opened before the first message about it, or once it is
   loaded.
3. Every further message is a POST, one after the other: they arrive in the order
   written.

Nothing is resumed after a break: the connection has ended, and the agent's next start
makes a new one and loads its session."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from rookery.core.json import Json, dumps, lenient, loads
from rookery.core.json.safe_text import clean_line
from rookery.wire.failures import INTERNAL_ERROR, error_to_json
from rookery.wire.http.events import Events
from rookery.wire.http.exchange import BadAnswer, Exchange
from rookery.wire.lines import TooLong
from rookery.wire.websocket import client
from rookery.wire.websocket.client import ConnectError, Target
from rookery.wire.websocket.link import tried
from rookery.wire.websocket.resuming import CONNECTION

SESSION = "Acp-Session-Id"
WITHIN = 60.0
"""Seconds for the server to take a message; `initialize` may start an agent over there."""
REFUSAL_BYTES = 8 * 1024
DEAD = frozenset({401, 403, 404, 410})
"""Answers after which the whole connection is of no use."""
ATTACHES = ("session/load", "session/resume")
CONFLICT = 409
"""Somebody else has the session's stream."""


class HttpLink:
    """A Carrier over HTTP, like AddressLink over WebSockets."""

    def __init__(
        self, target: Callable[[], Target], *, longest: int = client.MAX_MESSAGE_BYTES
    ) -> None:
        """`target` is called before each request: a token may have changed. It may raise
        ConnectError."""
        self.on_message: Callable[[bytes | TooLong], None] = lambda _: None
        self.on_end: Callable[[], None] = lambda: None
        self.on_away: Callable[[str], None] = lambda _: None
        self.on_back: Callable[[], None] = lambda: None
        self.why = ""
        """Why it ended, where we did not end it."""
        self.is_away = False
        """It is never away and comes back: it is there, or it has ended."""
        self._target, self._longest = target, longest
        self._id = ""
        self._ended = self._held = False
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._moved = asyncio.Event()
        self._cookies = client.Cookies()
        self._streams: dict[str, Exchange] = {}
        """The open streams of events, by session; "": the connection's."""
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._asked: dict[str, str] = {}
        """Requests of ours that wait for their answers (by id, as JSON), and their sessions."""
        self._joining: dict[str, str] = {}
        """Among them those that load a session whose stream comes with their answer."""
        self._asking: dict[str, str] = {}
        """Requests of the server's, and the sessions that they came for."""
        self._task: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    # --- connecting ------------------------------------------------------------------------------

    async def open(self, patience: float = 0.0) -> None:
        """Check that the server can be reached, retrying for `patience` seconds what may pass.
        Raises ConnectError."""

        async def look() -> None:
            (await client.reach(self._target()))[0].abort()

        await tried(look, patience)
        self._task = asyncio.create_task(self._send_all(), name="post")

    # --- messages --------------------------------------------------------------------------------

    @property
    def broken(self) -> bool:
        return self._ended

    @property
    def buffered(self) -> int:
        return self._size

    def write(self, data: bytes) -> None:
        if self._ended:
            return
        message = data.rstrip(b"\n")
        self._queue.append(message)
        self._size += len(message)
        self._moved.set()

    def flush(self) -> None:
        """Do nothing: messages are sent at once anyway."""

    async def drain(self, below: int) -> bool:
        while not self._ended and self._size >= below:
            self._moved.clear()
            await self._moved.wait()
        return not self._ended

    def pause(self) -> None:
        self._held = True
        for stream in self._streams.values():
            stream.pause()

    def resume(self) -> None:
        self._held = False
        for stream in self._streams.values():
            stream.resume()

    async def _send_all(self) -> None:
        try:
            while not self._ended:
                if not self._queue:
                    self._moved.clear()
                    await self._moved.wait()
                    continue
                await self._send(self._queue[0])
                self._size -= len(self._queue.popleft())
                self._moved.set()
        except ConnectError as error:
            self._finish(str(error))

    async def _send(self, message: bytes) -> None:
        """Post a message to its session or connection. Raises ConnectError."""
        given = loads(message)
        assert isinstance(given, dict)
        if not self._id:
            await self._initialize(message)
            return
        session = lenient.text(given.get("params"), "sessionId")
        if "method" not in given:
            session = self._asking.pop(dumps(given.get("id")), "")
        elif session and "id" in given:
            self._asked[dumps(given["id"])] = session
        try:
            if session and not await self._can_listen(given, session):
                self._joining[dumps(given["id"])] = session
                session = ""
            await self._post(message, session)
        except ConnectError as error:
            is_request = "method" in given and "id" in given
            known = self._asked.pop(dumps(given.get("id")), None) is not None
            # A session that another has, and a request that alone was refused, end nothing else.
            if error.status == CONFLICT and not is_request:
                return
            if not is_request or not error.status or error.status in DEAD:
                raise
            if known or not session:
                self._answer(given["id"], str(error))

    async def _can_listen(self, given: Json, session: str) -> bool:
        """Open the stream of a session. Return False if the server (the Python SDK's) has none
        before the session is loaded, and sends everything over the connection's stream. Raises
        ConnectError."""
        try:
            await self._listen(session)
        except ConnectError as error:
            if error.status not in client.GONE or given.get("method") not in ATTACHES:
                raise
            return False
        return True

    async def _initialize(self, message: bytes) -> None:
        exchange = await self._ask("POST", {}, message)
        self._id = exchange.fields.get(CONNECTION.lower(), "")
        body = await self._body(exchange)
        if not self._id:
            raise ConnectError(f"{self._where} answered without {CONNECTION}.")
        await self._listen("")
        self.on_message(body)

    async def _body(self, exchange: Exchange) -> bytes:
        try:
            async with asyncio.timeout(WITHIN):
                return await exchange.text(self._longest)
        except (OSError, BadAnswer) as error:
            raise ConnectError(f"{self._where}: {error}.") from None

    async def _post(self, message: bytes, session: str) -> None:
        headers = {SESSION: session} if session else {}
        (await self._ask("POST", headers, message)).abort()

    def _answer(self, request: object, message: str) -> None:
        error = error_to_json(INTERNAL_ERROR, message)
        self.on_message(dumps({"jsonrpc": "2.0", "id": request, "error": error}).encode())

    # --- streams of events -----------------------------------------------------------------------

    async def _listen(self, session: str) -> None:
        """Open the stream of a session, unless it is open already. Raises ConnectError."""
        if session in self._streams:
            return
        if (opening := self._opening.get(session)) is None:
            opening = asyncio.create_task(self._open_stream(session), name="listen")
            self._opening[session] = opening
            opening.add_done_callback(lambda _: self._opening.pop(session, None))
        await asyncio.shield(opening)

    async def _open_stream(self, session: str) -> None:
        headers = {"Accept": "text/event-stream"} | ({SESSION: session} if session else {})
        exchange = await self._ask("GET", headers)
        if self._ended:
            exchange.abort()
            return
        self._streams[session] = exchange
        events = Events(self._longest)

        def take(data: bytes) -> None:
            for message in events.feed(data):
                self._take(message, session)

        exchange.on_body = take
        exchange.ended = lambda _whole: self._stream_ended(session)
        exchange.read()
        if self._held:
            exchange.pause()

    def _take(self, message: bytes | TooLong, session: str) -> None:
        if not isinstance(message, TooLong):
            self._note(message, session)
        self.on_message(message)

    def _note(self, message: bytes, session: str) -> None:
        """Record the session of a request that we will answer, or that one of our requests is
        answered."""
        try:
            given = loads(message)
        except (ValueError, RecursionError):
            return
        if not isinstance(given, dict) or "id" not in given:
            return
        if "method" in given:
            self._asking[dumps(given["id"])] = session
            return
        self._asked.pop(dumps(given["id"]), None)
        joined = self._joining.pop(dumps(given["id"]), "")
        if "result" in given:
            named = lenient.text(given["result"], "sessionId") or joined
            if named:
                self._join(named)

    def _join(self, session: str) -> None:
        """Listen to a session that was just created: it may send something before we do."""

        async def listen() -> None:
            with suppress(ConnectError):  # the next message about it says why
                await self._listen(session)

        self._keep(asyncio.create_task(listen(), name="listen"))

    def _stream_ended(self, session: str) -> None:
        """Handle the end of a stream; that of an idle session is reopened with its next message."""
        self._streams.pop(session, None)
        if not session or session in self._asked.values():
            self._finish("the server closed the stream")

    # --- requests --------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return client.shown(self._target().url)

    async def _ask(self, method: str, more: Mapping[str, str], body: bytes = b"") -> Exchange:
        """Send a request; return the exchange if the response is a success. Raises ConnectError."""
        target = self._target()
        stream, address = await client.reach(target)
        exchange = Exchange(stream)
        headers = {**target.headers, **more}
        if self._id:
            headers[CONNECTION] = self._id
        headers |= self._cookies.header(headers)
        lines = [
            f"{method} {address.resource} HTTP/1.1",
            f"Host: {address.authority}",
            *(f"{name}: {value}" for name, value in headers.items()),
            *([f"Content-Length: {len(body)}"] if body else []),
            *(["Content-Type: application/json"] if body else []),
            "Connection: close",
        ]
        where = client.shown(target.url)
        with ExitStack() as undo:
            undo.callback(exchange.abort)
            reply = await self._heard(
                exchange, where, ("\r\n".join(lines) + "\r\n\r\n").encode(), body
            )
            if reply is None:
                undo.pop_all()
                return exchange
        refusal = client.refusal(where, exchange.status, exchange.fields, reply)
        if exchange.status in (CONFLICT, 400) and not reply.lstrip().startswith(b"{"):
            text = clean_line(reply[:300].decode("utf-8", "replace"))
            raise ConnectError(f"{where}: {text}", status=exchange.status)
        raise refusal

    async def _heard(
        self, exchange: Exchange, where: str, head: bytes, body: bytes
    ) -> bytes | None:
        """Send a request; return the body of a refusal, or None if it succeeded. Raises
        ConnectError."""
        try:
            async with asyncio.timeout(WITHIN):
                await exchange.send(head, body)
                self._cookies.take(exchange.cookies)
                is_done = 200 <= exchange.status < 300
                return None if is_done else await exchange.text(REFUSAL_BYTES)
        except TimeoutError:
            raise ConnectError(f"{where} did not answer in time.", passes=True) from None
        except (OSError, BadAnswer) as error:
            raise ConnectError(f"{where}: {error}.", passes=True) from None

    # --- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        if not self._ended:
            self._end_all()

    def _finish(self, why: str) -> None:
        if not self._ended:
            self.why = why.rstrip(".")
            self._end_all()
            self.on_end()

    def _end_all(self) -> None:
        self._ended = True
        for task in (self._task, *self._opening.values()):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        for stream in self._streams.values():
            stream.abort()
        self._streams.clear()
        self._moved.set()
        if self._id:
            self._keep(asyncio.create_task(self._leave(), name="leave"))

    async def _leave(self) -> None:
        with suppress(ConnectError, TimeoutError):
            async with asyncio.timeout(client.CLOSING):
                (await self._ask("DELETE", {})).abort()

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
