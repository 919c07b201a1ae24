"""The daemon's HTTP server: its sockets, and connections that know their peers."""

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import override

import uvicorn

from rookery.client.daemon.local import socket_path
from rookery.core.refusals import Refused
from rookery.daemon.access.gate import App
from rookery.daemon.options import NONE, Options
from rookery.daemon.process.connection_limit import MAX_LOCAL, Guest, Room, raise_limit
from rookery.daemon.process.connections import GUEST, ROOM, Http, WebSocket
from rookery.daemon.process.listener import Listener
from rookery.home import paths
from rookery.processes import landlock
from rookery.wire.credentials import listening, listening_at

BACKLOG = 256
MESSAGE_BYTES = 32 * 1024 * 1024
"""The maximum size of a WebSocket message from a client: an editor's prompt may have
attachments."""
GRACE = 3
"""Seconds for what is being answered, when the daemon stops."""
PING = 30.0


class Sockets:
    """The sockets that a daemon listens on: its network address, and local ones for this user."""

    def __init__(self, home: str, options: Options) -> None:
        self.path = socket_path(home)
        self.control = f"rookery-{os.urandom(16).hex()}" if landlock.available() else ""
        self._opened: list[socket.socket] = []
        with ExitStack() as undo:
            undo.callback(self.close)
            self.port = self._listen_at(options)
            self._listen_here()
            undo.pop_all()

    def _listen_at(self, options: Options) -> int:
        try:
            family, *_, address = socket.getaddrinfo(
                options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            # With its protocol's number: only then asyncio turns Nagle's algorithm off, which
            # holds the second piece of an answer back for 40 ms.
            sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            self._opened.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(BACKLOG)
        except OSError as error:
            raise Refused(
                "no_address",
                f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}. "
                "Choose another with --host and --port.",
            ) from error
        return int(sock.getsockname()[1])

    def _listen_here(self) -> None:
        paths.make_socket_dir(self.path)
        self._opened.append(listening_at(self.path, BACKLOG))
        if self.control:
            self._opened.append(listening(f"\0{self.control}", BACKLOG))

    def all(self) -> Sequence[socket.socket]:
        return self._opened

    def close(self) -> None:
        for each in self._opened:
            each.close()


class Server(uvicorn.Server):
    """A uvicorn server that ends when `stop` is called or a signal comes; the caller first closes
    what it has open."""

    def __init__(self, app: App, home: str, options: Options, sockets: Sockets) -> None:
        config = uvicorn.Config(
            app,
            http=Http,
            ws=WebSocket,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=GRACE,
            ws_max_size=MESSAGE_BYTES,
            ws_ping_interval=PING,
            ws_ping_timeout=PING,
            ws_per_message_deflate=False,
        )
        super().__init__(config)
        Http.home = WebSocket.home = home
        Http.open_to_all = WebSocket.open_to_all = options.auth == NONE
        self._sockets = sockets
        self._tls = _tls(options)
        self._stopping = asyncio.Event()
        self.listening = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stopping.set()

    async def wait_until_stopping(self) -> None:
        await self._stopping.wait()

    async def run_until_stopped(self) -> None:
        await self.serve(list(self._sockets.all()))

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for number in numbers:
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening; only the network socket uses TLS."""
        self.lifespan = self.config.lifespan_class(self.config)

        def connection(guest: Guest, room: Room) -> asyncio.Protocol:
            return Http(self.config, self.server_state, {GUEST: guest, ROOM: room})

        limit = raise_limit()
        own, others = Room(min(MAX_LOCAL, limit)), Room(limit)
        listeners = [
            Listener(each, connection, None, room=own, crowd=others)
            if each.family == socket.AF_UNIX
            else Listener(each, connection, self._tls, room=others, crowd=others)
            for each in sockets or []
        ]
        self.servers = listeners  # type: ignore[assignment]
        self.started = True
        self.listening.set()

    @override
    async def main_loop(self) -> None:
        await self._stopping.wait()


def _tls(options: Options) -> ssl.SSLContext | None:
    if not options.tls_cert:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except (OSError, ssl.SSLError) as error:
        why = error.strerror or str(error)
        raise Refused(
            "bad_certificate", f"{options.tls_cert} and {options.tls_key} do not work: {why}"
        ) from error
    return context
