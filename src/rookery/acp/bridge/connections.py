"""Editors on other machines: many bridges in one process, each on a connection of its own, which
may outlive the socket that carries it. A connection that ends ends nothing else.

The endpoint of a web server does this with a WebSocket:

    connection = connections.taken(id, received)     # of the handshake's headers; None: 404
    accept(headers=connection.headers())
    turn = connection.attach(received or 0)
    …
    connections.left(connection, turn, code)
"""

import asyncio
import os

from rookery.acp.bridge.door import Bridge
from rookery.core.refusals import Fixed
from rookery.wire.reception import serve
from rookery.wire.websocket.resuming import NORMAL
from rookery.wire.websocket.served import Served

HELD = 600.0
"""Seconds for which a connection without a socket waits for its client to come back."""

MAX_CONNECTIONS = 200
"""Connections at once; those that wait for their clients give way to new ones."""


class Full(Fixed):
    """No more connections are accepted."""

    kind = "busy"
    reason = "too_many_connections"


class Connections:
    def __init__(self, home: str, *, held: float = HELD, most: int = MAX_CONNECTIONS) -> None:
        self._home = home
        self._held = held
        self._most = most
        self._open: dict[str, Served] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._open)

    def taken(self, id: str | None, received: str | None, owner: str = "") -> Served | None:
        """Return the connection that the headers of a handshake (Acp-Connection-Id,
        Rookery-Received) name; a new one if they name none. None if it is no longer known, or
        belongs to another owner. Raises Full."""
        count = int(received) if received and received.isdecimal() and len(received) < 16 else None
        if not id:
            return self._new(owner, resumes=count is not None)
        known = self._open.get(id)
        if known is None or known.owner != owner or count is None or not known.can_resume(count):
            return None
        self._forget_timer(id)
        return known

    def left(self, connection: Served, turn: int, code: int) -> None:
        """Note that the socket of a connection ended, with this close code."""
        if code == NORMAL and connection.is_carried_by(turn):  # not one that was replaced
            connection.end()
            return
        connection.detach(turn)
        if not connection.broken and not connection.attached:
            self._forget_timer(connection.id)
            loop = asyncio.get_running_loop()
            self._timers[connection.id] = loop.call_later(self._held, connection.end)

    async def close(self) -> None:
        """End all connections; their sessions go on."""
        for connection in list(self._open.values()):
            connection.end()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _new(self, owner: str, *, resumes: bool) -> Served:
        if len(self._open) >= self._most:
            waiting = next((id for id in self._timers if id in self._open), None)
            if waiting is None:
                raise Full(
                    f"{self._most} connections are open already.",
                    "Close editors that you do not use, or try again later.",
                )
            self._open.pop(waiting).end()
        connection = Served(os.urandom(16).hex(), resumes=resumes, owner=owner)
        self._open[connection.id] = connection
        work = serve(lambda group: Bridge({}, group, connection, self._home))
        # Eager: the bridge stands before the first message can come.
        loop, name = asyncio.get_running_loop(), f"acp {connection.id[:8]}"
        task = asyncio.Task(work, loop=loop, name=name, eager_start=True)
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._ended(connection, task))
        return connection

    def _ended(self, connection: Served, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        connection.close()
        self._open.pop(connection.id, None)
        self._forget_timer(connection.id)
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": "a connection of an editor failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    def _forget_timer(self, id: str) -> None:
        timer = self._timers.pop(id, None)
        if timer is not None:
            timer.cancel()
