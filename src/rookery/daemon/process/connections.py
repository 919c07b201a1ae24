"""Connections to the daemon: uvicorn's, extended to identify the peer, to drop slow requests, and
to close WebSockets with 1001 when the daemon stops."""

import asyncio
import http
import socket
import sys
from contextlib import suppress
from typing import Any, ClassVar, override

import h11
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.http11 import Response

from rookery.daemon.access.gate import DEVICE, HEADERS, NOT_KEPT, PEER, App
from rookery.daemon.access.peers import Peer
from rookery.daemon.metrics.measures import RESPONSES
from rookery.daemon.process.connection_limit import Guest, Room
from rookery.daemon.process.faults import Bugs, refused, unreadable
from rookery.daemon.process.parser import Parser

HEADER_SECONDS = 10.0
"""For the header of a request to arrive."""
HEADER_BYTES = 1024 * 1024
"""Another server on this host may have filled the browser's jar with cookies, 180 of 4 KiB, and the
page has to come all the same."""
GOING_AWAY = 1001
GUEST, ROOM = "rookery.guest", "rookery.room"
"""Keys of the state that uvicorn passes on when a connection becomes a WebSocket."""

BUGS = Bugs()


class _Served:
    """Common to both kinds of connection: identifies the peer and reports to the room."""

    home: ClassVar[str]
    open_to_all: ClassVar[bool]
    """Nobody logs in: all are known."""

    def _enter(self, app: Any, state: dict[str, Any], transport: asyncio.Transport) -> App:
        """Return the application, wrapped so that every request carries the peer. Raises OSError if
        the peer has gone."""
        self._guest: Guest = state[GUEST]
        self._room: Room = state[ROOM]
        self._guest.drop = transport.abort
        connection: socket.socket = transport.get_extra_info("socket")
        controls = isinstance(connection.getsockname(), bytes)  # an abstract name
        peer = Peer(connection, self.home, controls=controls)

        async def with_peer(scope: Any, receive: Any, send: Any) -> None:
            scope[PEER] = peer
            known = self._guest.is_known() or peer.own or self.open_to_all
            self._guest.is_known = lambda: known or scope.get(DEVICE) is not None
            self._room.heard(self._guest)
            begun = scope["type"] != "http"

            async def sent(message: Any) -> None:
                nonlocal begun
                begun = True
                await send(message)

            try:
                await app(scope, receive, sent)
            except (ClientDisconnect, ClientDisconnected, WebSocketDisconnect):
                return
            except Exception as error:  # noqa: BLE001 - a bug: this request fails, no other
                await BUGS.answer(error, None if begun else send)

        return with_peer

    def _leave(self) -> None:
        self._room.leave(self._guest)


class Http(_Served, H11Protocol):
    _waits: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.conn = Parser(h11.SERVER, HEADER_BYTES)
        try:
            self.app = self._enter(self.app, self.app_state, transport)
        except OSError:
            transport.abort()
            return
        self._await_header()

    def _await_header(self) -> None:
        self._waits = self.loop.call_later(HEADER_SECONDS, self._end)

    def _end(self) -> None:
        self._waits = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _has_header(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    @override
    def data_received(self, data: bytes) -> None:
        cycle: Any = self.cycle
        if self._waits is None and cycle is not None and cycle.response_complete:
            self._await_header()
        super().data_received(data)
        if self.cycle is not cycle:
            self._has_header()

    @override
    def send_400_response(self, msg: str) -> None:
        """Send our own response. Called from the handler of h11's error."""
        problem = unreadable(sys.exception())
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = problem.response()
            RESPONSES.add(str(problem.status))
            headers = [*response.raw_headers, *HEADERS, NOT_KEPT, (b"connection", b"close")]
            for event in (
                h11.Response(status_code=problem.status, headers=headers),
                h11.Data(data=bytes(response.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    @override
    def shutdown(self) -> None:
        """Shut down, even if nothing can be sent on the connection any more."""
        with suppress(h11.LocalProtocolError):
            super().shutdown()
            return
        self.transport.close()

    @override
    def handle_websocket_upgrade(self, event: Any) -> None:
        self._has_header()
        # Cookies tell us nothing, and a jar that is full would end the handshake.
        self.headers = [each for each in self.headers if each[0] != b"cookie"]
        super().handle_websocket_upgrade(event)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._has_header()
        self._leave()
        super().connection_lost(exc)


class Gathering:
    """A transport that joins what one round of the event loop writes: updates of fifty sessions are
    fifty frames, but one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._transport.write(b"".join(waiting))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class WebSocket(_Served, WebSocketsSansIOProtocol):
    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        self.app = self._enter(self.app, self.app_state, transport)
        self.transport = Gathering(transport, self.loop)  # type: ignore[assignment]
        self.conn.reject = _reject  # type: ignore[method-assign]

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            why = self.conn.handshake_exc.__cause__
            response = _reject(400, f"Failed to open a WebSocket connection: {why}.")
            self.transport.write(response.serialize())
            self.transport.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    @override
    def shutdown(self) -> None:
        if not self.handshake_complete or self.close_sent:
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": GOING_AWAY})
        self.conn.send_close(GOING_AWAY)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()


def _reject(status: int, text: str) -> Response:
    """Build the library's rejection with our own message."""
    problem = refused(int(status), text)
    answer = problem.response()
    headers = Headers({"Connection": "close"})
    for name, value in (*answer.raw_headers, *HEADERS, NOT_KEPT):
        headers[name.decode()] = value.decode()
    phrase = http.HTTPStatus(problem.status).phrase
    return Response(problem.status, phrase, headers, bytes(answer.body))
