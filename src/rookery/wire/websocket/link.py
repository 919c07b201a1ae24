"""A client connection to an address. After a break it reconnects, if the server can resume it
(`resuming`); otherwise it has ended."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import uniform

from rookery.wire.lines import TooLong
from rookery.wire.websocket import client
from rookery.wire.websocket.client import ConnectError, Target, WebSocket
from rookery.wire.websocket.resuming import (
    BREAKS,
    BROKEN,
    CONNECTION,
    LATEST,
    RECEIVED,
    UNCONFIRMED,
    Received,
    Sent,
    confirmed,
)

FIRST_DELAY, LONGEST_DELAY = 0.25, 15.0
"""Seconds between two tries to connect: doubled each time, with some chance in them."""
RECONNECT_TIMEOUT = 600.0
"""How many seconds a broken connection is retried."""


async def tried[Result](connect: Callable[[], Awaitable[Result]], patience: float) -> Result:
    """Connect, retrying for `patience` seconds what may pass. Raises ConnectError."""
    loop = asyncio.get_running_loop()
    until, delay = loop.time() + patience, FIRST_DELAY
    while True:
        try:
            return await connect()
        except ConnectError as error:
            if not error.passes or loop.time() + delay > until:
                raise
        await asyncio.sleep(uniform(delay / 2, delay))  # noqa: S311 (no secret)
        delay = min(2 * delay, LONGEST_DELAY)


class AddressLink:
    """A Carrier over WebSockets. `open` connects; `on_away` and `on_back` report breaks."""

    def __init__(
        self, target: Callable[[], Target], *, longest: int = client.MAX_MESSAGE_BYTES
    ) -> None:
        """`target` is called before each attempt: a token may have changed. It may raise
        ConnectError."""
        self.on_message: Callable[[bytes | TooLong], None] = lambda _: None
        self.on_end: Callable[[], None] = lambda: None
        self.on_away: Callable[[str], None] = lambda _: None
        self.on_back: Callable[[], None] = lambda: None
        self.why = ""
        """Why it ended, where we did not end it."""
        self._target, self._longest = target, longest
        self._socket: WebSocket | None = None
        self._id = ""
        self._resumes = self._ended = self._held = False
        self._sent, self._received = Sent(), Received()
        self._cookies = client.Cookies()
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    # --- connecting ------------------------------------------------------------------------------

    async def open(self, patience: float = 0.0) -> None:
        """Connect, retrying for `patience` seconds what may pass. Raises ConnectError."""
        self._begin(await tried(self._connect, patience))

    async def _connect(self) -> WebSocket:
        target = self._target()
        own = {RECEIVED: str(self._received.count)} | ({CONNECTION: self._id} if self._id else {})
        own |= self._cookies.header(target.headers)
        socket = await client.connect(target, own, longest=self._longest)
        self._cookies.take(socket.cookies)
        return socket

    def _begin(self, socket: WebSocket) -> None:
        self._socket, self._id = socket, socket.headers.get(CONNECTION.lower(), "")
        self._resumes = bool(self._id) and RECEIVED.lower() in socket.headers
        if self._held:
            socket.pause()
        socket.begin(self._take, self._closed, resumes=self._resumes)

    # --- messages --------------------------------------------------------------------------------

    @property
    def broken(self) -> bool:
        return self._ended

    @property
    def is_away(self) -> bool:
        """Whether the connection is broken for now, but may come back."""
        return self._socket is None and not self._ended

    @property
    def buffered(self) -> int:
        return self._sent.size if self._socket is None else self._socket.buffered

    def write(self, data: bytes) -> None:
        if self._ended:
            return
        message = data.rstrip(b"\n")
        if self._resumes:
            self._sent.add(message)
            if self._sent.size > UNCONFIRMED:
                self._finish("too much was sent that the server did not confirm")
                return
        if self._socket is not None:
            self._socket.send(message)

    def flush(self) -> None:
        """Do nothing: messages are sent at once anyway."""

    async def drain(self, below: int) -> bool:
        while not self._ended and self.buffered >= below:
            if self._socket is not None:
                await self._socket.drain(below)
                await asyncio.sleep(0)
            else:
                self._moved.clear()
                await self._moved.wait()
        return not self._ended

    def pause(self) -> None:
        self._held = True
        if self._socket is not None:
            self._socket.pause()

    def resume(self) -> None:
        self._held = False
        if self._socket is not None:
            self._socket.resume()

    def _take(self, message: bytes | TooLong) -> None:
        if self._resumes:
            count = None if isinstance(message, TooLong) else confirmed(message)
            if count is not None:
                if not self._sent.confirm(count):
                    self._finish("the server confirmed what was never sent")
                return
            size = message.size if isinstance(message, TooLong) else len(message)
            if self._received.take(size):
                self._confirm()
            elif self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(LATEST, self._confirm)
        self.on_message(message)

    def _confirm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._socket is not None and self._received.is_open:
            self._socket.send(self._received.confirming())

    # --- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        if not self._ended:
            self._end_all()

    def _closed(self, code: int, reason: str) -> None:
        if self._ended:
            return
        self._socket = None
        self._moved.set()
        why = reason or ("the connection broke" if code == BROKEN else f"closed ({code})")
        if not self._resumes or code not in BREAKS:
            self._finish(why)
            return
        self.on_away(why)
        self._task = asyncio.create_task(self._come_back(), name="reconnect")

    async def _come_back(self) -> None:
        before = self._id
        try:
            socket = await tried(self._connect, RECONNECT_TIMEOUT)
        except ConnectError as error:
            forgotten = error.status in client.GONE
            self._finish("the server no longer knows the connection" if forgotten else str(error))
            return
        has = socket.headers.get(RECEIVED.lower(), "")
        same = socket.headers.get(CONNECTION.lower()) == before and has.isdecimal()
        if not same or not self._sent.has_after(int(has)):
            socket.close()
            self._finish("the server no longer knows the connection")
            return
        self._sent.confirm(int(has))
        for number in range(int(has) + 1, self._sent.last + 1):
            socket.send(self._sent.get(number))
        self.on_back()
        self._begin(socket)
        self._moved.set()

    def _finish(self, why: str) -> None:
        if not self._ended:
            self.why = why
            self._end_all()
            self.on_end()

    def _end_all(self) -> None:
        self._ended = True
        if self._task is not None and self._task is not _current():
            self._task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._moved.set()


def _current() -> "asyncio.Task[object] | None":
    with suppress(RuntimeError):
        return asyncio.current_task()
    return None
