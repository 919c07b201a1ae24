"""News from a daemon on another machine, over a WebSocket that is opened again after each break and
subscribed from what is known by then. Nothing is lost, nothing comes twice."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from rookery.client.daemon.errors import Denied, NotLoggedIn, Unreachable, Untrusted
from rookery.client.daemon.remote import Door, refused
from rookery.core.json import Json, dumps, lenient, loads
from rookery.log.errors import NoSession
from rookery.operations.calling.interface import Notify
from rookery.wire import frames
from rookery.wire.lines import TooLong
from rookery.wire.websocket.client import UNAUTHORIZED, ConnectError, Target, WebSocket, connect

LOGGED_OUT = 1008
FIRST, SLOWEST = 0.5, 10.0
"""Seconds until it is tried again, at first and at most."""
MANY, FEW = 64, 16
"""Messages that wait: the server is held back from the first number on, down to the second."""

type Frame = tuple[str, Json]
type Subscribe = Callable[[], Json]
"""Returns what to subscribe to, and from which point."""


async def news(door: Door, subscribe: Subscribe, on_link: Notify) -> AsyncIterator[Frame]:
    """Yield frames for ever. Raises RemoteError if there never was a connection, or if trying again
    does not help, and LogError if the session is gone."""
    stood, delay = False, FIRST
    while True:
        try:
            socket = await _connected(door)
        except Unreachable as error:
            if not stood:
                raise
            on_link(str(error))
            await asyncio.sleep(delay * random.uniform(0.7, 1.0))  # noqa: S311 - guards nothing
            delay = min(2 * delay, SLOWEST)
            continue
        stood, delay = True, FIRST
        try:
            async with aclosing(_frames(door, socket, subscribe)) as incoming:  # type: ignore[type-var]
                on_link("")
                async for frame in incoming:
                    yield frame
        finally:
            socket.abort()  # nothing is under way: a farewell would outlive whoever left
        on_link("The connection was lost.")


async def _connected(door: Door) -> WebSocket:
    login = door.login
    address = f"ws{door.url.removeprefix('http')}/api/stream"
    headers = {"Authorization": f"Bearer {login.token}"} if login.token else {}
    target = Target(address, headers, login.ca, login.fingerprint, in_the_clear=login.http)
    try:
        return await connect(target)
    except ConnectError as error:
        if error.status == UNAUTHORIZED:
            raise NotLoggedIn(door.url, f"Your login on {door.url} is not valid.") from None
        if error.passes:
            raise Unreachable(door.url, str(error).rstrip(".")) from None
        if not error.status:
            raise Untrusted(str(error)) from None
        raise Denied("no_stream", str(error)) from None


async def _frames(door: Door, socket: WebSocket, subscribe: Subscribe) -> AsyncIterator[Frame]:
    """Yield frames until the connection ends."""
    inbox: asyncio.Queue[bytes | int] = asyncio.Queue()

    def take(text: bytes | TooLong) -> None:
        if isinstance(text, TooLong):
            socket.abort()  # and on from what is known
            return
        inbox.put_nowait(text)
        if inbox.qsize() > MANY:
            socket.pause()

    socket.begin(take, lambda code, _reason: inbox.put_nowait(code), resumes=True)
    socket.send(_subscription(subscribe))
    while not isinstance(message := await inbox.get(), int):
        if inbox.qsize() == FEW:
            socket.resume()
        kind, body = frames.kind_and_body(loads(message))
        match kind, body if isinstance(body, dict) else {}:
            case "lagged", _:
                socket.send(_subscription(subscribe))
            case "ended", fields:
                raise NoSession(lenient.text(fields, "message") or "The session is gone.")
            case "error", fields:
                raise refused(fields, "failed")
            case _, fields:
                yield kind, fields
    if message == LOGGED_OUT:
        raise NotLoggedIn(door.url, f"Your login on {door.url} was revoked.")


def _subscription(subscribe: Subscribe) -> bytes:
    return dumps({"subscribe": subscribe()}).encode("ascii")
