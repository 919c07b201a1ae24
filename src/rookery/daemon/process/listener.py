"""A listening socket. We do not use asyncio's own server: with that, a connection counts only after
its TLS handshake, and running out of files is an error of the whole process."""

import asyncio
import errno
import logging
import socket
import ssl
import time
from collections.abc import Callable

from rookery.daemon.process.connection_limit import Guest, Room

BATCH = 32
"""Connections that are accepted before others get their turn."""
HANDSHAKE_SECONDS = 10.0
PAUSE = 0.1
"""Seconds after an error of the system."""
QUIET = 60.0
"""Seconds until that is logged again."""
NOTHING = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR, errno.ECONNABORTED)

type Factory = Callable[[Guest, Room], asyncio.Protocol]

_log = logging.getLogger("rookery.daemon")


class Listener:
    """Accepts connections; has the part of a server that uvicorn uses: `close` and
    `wait_closed`."""

    def __init__(
        self,
        sock: socket.socket,
        factory: Factory,
        tls: ssl.SSLContext | None,
        *,
        room: Room,
        crowd: Room,
    ) -> None:
        """Listen on the socket. `crowd` is the room whose connections are ended when no more files
        can be opened."""
        self._socket = sock
        self._room = room
        self._crowd = crowd
        self._factory = factory
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[bool]] = set()
        self._paused: asyncio.TimerHandle | None = None
        self._logged = float("-inf")
        sock.setblocking(False)
        self._listen()

    def close(self) -> None:
        if self._paused is not None:
            self._paused.cancel()
        self._loop.remove_reader(self._socket)
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Return at once: uvicorn waits for the connections."""

    def _accept(self) -> None:
        for _ in range(BATCH):
            try:
                connection, address = self._socket.accept()
            except OSError as error:
                if error.errno not in NOTHING:
                    self._pause(error)
                return
            connection.setblocking(False)
            self._begin(connection, address[0] if isinstance(address, tuple) else "")

    def _pause(self, error: OSError) -> None:
        """Pause after a failed accept, most likely for too many open files: end some connections,
        and give them time to close."""
        if time.monotonic() - self._logged >= QUIET:
            self._logged = time.monotonic()
            _log.warning("accepting a connection: %s", error)
        self._crowd.shrink()
        self._loop.remove_reader(self._socket)
        self._paused = self._loop.call_later(PAUSE, self._listen)

    def _listen(self) -> None:
        self._loop.add_reader(self._socket, self._accept)

    def _begin(self, connection: socket.socket, address: str) -> None:
        guest = Guest(address)
        task = self._loop.create_task(self._connect(connection, guest))
        guest.drop = task.cancel
        self._tasks.add(task)

        def done(_: object) -> None:
            self._tasks.discard(task)
            if task.cancelled() or not task.result():
                self._room.leave(guest)
                connection.close()

        task.add_done_callback(done)
        self._room.enter(guest)

    async def _connect(self, connection: socket.socket, guest: Guest) -> bool:
        """Complete the connection; return False if the TLS handshake failed or took too long."""
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._factory(guest, self._room),
                connection,
                ssl=self._tls,
                ssl_handshake_timeout=None if self._tls is None else HANDSHAKE_SECONDS,
            )
        except OSError:
            return False
        return True
