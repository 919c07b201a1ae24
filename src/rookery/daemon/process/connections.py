"""One connection to the daemon: uvicorn's, but it knows who is at its other end, waits for no slow
request, and says 1001 when the daemon goes."""

import asyncio
import socket
from typing import Any, ClassVar, override

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from rookery.daemon.access.gate import PEER, App
from rookery.daemon.access.peers import Peer

HEADER_SECONDS = 10.0
"""For the header of a request to arrive."""
MOST_CONNECTIONS = 1000
MOST_OF_ONE = 200
"""From one address that is not this machine's own."""
GOING_AWAY = 1001


def _with_peer(app: Any, transport: asyncio.Transport, home: str) -> App:
    """The application, which gets the peer with every request. Raises OSError: it is gone."""
    connection: socket.socket = transport.get_extra_info("socket")
    controls = isinstance(connection.getsockname(), bytes)  # an abstract name
    peer = Peer(connection, home, controls=controls)

    async def with_peer(scope: Any, receive: Any, send: Any) -> None:
        scope[PEER] = peer
        await app(scope, receive, send)

    return with_peer


class Http(H11Protocol):
    home: ClassVar[str]
    _waits: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._are_too_many():
            transport.abort()
            return
        try:
            self.app = _with_peer(self.app, transport, self.home)
        except OSError:
            transport.abort()
            return
        self._await_header()

    def _are_too_many(self) -> bool:
        if len(self.connections) > MOST_CONNECTIONS:
            return True
        if self.client is None or self.client[0] in ("127.0.0.1", "::1"):
            return False
        others = [getattr(each, "client", None) for each in self.connections]
        return [each[0] for each in others if each].count(self.client[0]) > MOST_OF_ONE

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
    def handle_websocket_upgrade(self, event: Any) -> None:
        self._has_header()
        super().handle_websocket_upgrade(event)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._has_header()
        super().connection_lost(exc)


class Gathering:
    """A transport that writes what one round of the loop brought in one go: news of fifty sessions
    are fifty frames, and one call of the system."""

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


class WebSocket(WebSocketsSansIOProtocol):
    home: ClassVar[str]

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        self.app = _with_peer(self.app, transport, self.home)
        self.transport = Gathering(transport, self.loop)  # type: ignore[assignment]

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
