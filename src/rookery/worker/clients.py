"""The worker's side of its socket: many clients at once, none able to slow the session."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rookery.build import build
from rookery.client import guard
from rookery.core.json import Event, Json, lenient, loads
from rookery.home import paths
from rookery.processes import landlock
from rookery.wire import frames
from rookery.wire.credentials import listening, listening_at, peer_of
from rookery.wire.lines import LineSplitter
from rookery.worker.process.records import Records, wall_clock
from rookery.worker.sender import Sender
from rookery.worker.session import Session, now

BACKLOG = 64
RESUME_BELOW = 64 * 1024
NAME_MOST = 200
"""Characters of a client's name: a device's and a person's are in it."""
PROCESS = re.compile(r"[\w-]+(:\d+)?")
"""The name of a client that is no device."""
CALL_SECONDS = 5.0
"""A client that was called and does not answer: then the disk (law 4)."""


class Connection(asyncio.Protocol):
    """One client. Nothing is sent to it before its hello."""

    def __init__(self, clients: "Clients", *, controls: bool = False) -> None:
        self._clients = clients
        self._controls = controls
        self._agents: bool | None = None
        """Whether an agent's process is at the other end; None: it was not looked at yet."""
        self._lines = LineSplitter(frames.COMMAND_BYTES)
        self._transport: asyncio.Transport | None = None
        self._lagging = False
        self.name = ""
        self.offers: frozenset[str] = frozenset()
        """Methods that this client can be called with (law 4's exception)."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(frames.BUFFER_BYTES, RESUME_BELOW)
        connection = transport.get_extra_info("socket")
        if peer_of(connection)[0] != os.geteuid():
            self._refuse("not_yours", "This session belongs to another user.")
            return
        # Not when a command comes: the sender may be gone by then. But after what came with the
        # connection: a list asks every worker whether it lives, and is not worth the look.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._look)

    def _look(self) -> None:
        transport = self._transport
        if self._agents is None and transport is not None and not transport.is_closing():
            connection = transport.get_extra_info("socket")
            self._agents = guard.peer_is_agents(connection, self._clients.session.home)

    def data_received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if self._transport is None or self._transport.is_closing():
                return
            if not isinstance(line, bytes):
                self._refuse(
                    "too_long", f"A command may have at most {frames.COMMAND_BYTES} bytes."
                )
                return
            try:
                frame = loads(line)
            except ValueError:
                self._refuse("malformed", "A frame must be one line of JSON.")
                return
            self._take(*frames.kind_and_body(frame))

    def _take(self, kind: str, body: object) -> None:
        if kind == "hello" and not self.name:
            self._hello(body)
            return
        if kind in ("reply", "note") and self.name:
            self._clients.replied(self, kind, body)
            return
        command = frames.command_of(body) if kind == "command" and self.name else None
        if command is None:
            self._refuse("unexpected", "Send a hello first, then commands with `id` and `do`.")
        else:
            sender = Sender(self.name, self._agents is not False, self._controls)
            self._clients.session.commands.append((command, sender))
            self._clients.session.wake()

    def _hello(self, body: object) -> None:
        asked = body if isinstance(body, dict) else {}
        if asked.get("protocol") != frames.PROTOCOL:
            self._refuse("protocol", frames.misfit(asked.get("protocol"), build()))
            return
        self._look()
        self.name = str(asked.get("client") or "client")[:NAME_MOST]
        if self._agents is not False and not PROCESS.fullmatch(self.name):
            self.name = "agent"  # it names no device: none sends an agent's commands
        # What an agent's process says that a file holds is not what an editor shows.
        own = self._agents is False
        self.offers = frozenset(lenient.texts(asked, "offers")) if own else frozenset()
        self.write(frames.encode("welcome", self._clients.welcome()))
        self._clients.add(self)

    @property
    def lags(self) -> bool:
        return self._lagging

    def write(self, data: bytes) -> None:
        # One that hung up is dropped a moment later; asyncio complains of each write until then.
        if self._transport is not None and not self._lagging and not self._transport.is_closing():
            self._transport.write(data)

    def _refuse(self, reason: str, message: str) -> None:
        assert self._transport is not None
        self._transport.write(frames.refused(reason, message))
        self._transport.close()

    # The buffer of a slow client is full: it hears nothing until it has taken that, and then only
    # how far the log has come, which it can read for itself.

    def pause_writing(self) -> None:
        self._lagging = True

    def resume_writing(self) -> None:
        self._lagging = False
        self.write(frames.encode("lagged", self._clients.session.journal.writer.last_seq))

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self._clients.drop(self)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Call(NamedTuple):
    """A request to one client; `then(None)`: it did not answer, or answered with an error."""

    client: Connection
    then: Callable[[Json | None], None]
    note: Callable[[Json], None]
    timer: asyncio.TimerHandle | None


class Clients:
    """The socket, and the clients connected to it."""

    def __init__(self, session: Session, records: Records) -> None:
        self.session = session
        self.path = paths.socket_path(session.directory)
        self.control = f"rookery-{os.urandom(16).hex()}" if landlock.available() else ""
        """The name of the abstract socket that takes guarded commands; "": there is none."""
        self._records = records
        self._connections: dict[Connection, None] = {}
        self._calls: dict[str, Call] = {}
        self.on_came: Callable[[], None] = lambda: None
        """A client has said what it offers."""
        self._server: asyncio.Server | None = None
        self._controlling: asyncio.Server | None = None
        self._identity = (0, 0)

    def welcome(self) -> Json:
        return {
            "protocol": frames.PROTOCOL,
            "build": build(),
            "session": self.session.header.id,
            "seq": self.session.journal.writer.last_seq,
            **({"control": self.control} if self.control else {}),
        }

    async def listen(self) -> None:
        """Listen at the socket's path and, the first time, at an abstract socket that takes guarded
        commands."""
        paths.make_socket_dir(self.path)
        listener = listening_at(self.path, BACKLOG)
        status = os.stat(self.path)
        self._identity = (status.st_dev, status.st_ino)
        loop = asyncio.get_running_loop()
        old, self._server = self._server, None
        self._server = await loop.create_unix_server(lambda: Connection(self), sock=listener)
        if old is not None:
            old.close()
        if self.control and self._controlling is None:
            # On a name that is no file: it cannot be taken away, and ends with this process.
            control = listening(f"\0{self.control}", BACKLOG)
            self._controlling = await loop.create_unix_server(
                lambda: Connection(self, controls=True), sock=control
            )

    def bound(self) -> bool:
        """Tell whether the path still leads to this socket: a cleaner of /tmp may have
        removed it."""
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def add(self, connection: Connection) -> None:
        self._connections[connection] = None
        self.on_came()
        self._changed()

    def drop(self, connection: Connection) -> None:
        if connection in self._connections:
            del self._connections[connection]
            for name, call in list(self._calls.items()):
                if call.client is connection:
                    self._answer(name, None)
            self._changed()

    def _changed(self) -> None:
        attached, session = bool(self._connections), self.session
        session.rest = session.rest._replace(left_at=None if attached else now())
        self._records.note(**{"attached" if attached else "detached": wall_clock()})
        session.wake()

    def publish(self, events: Iterable[Event]) -> None:
        if not self._connections:
            return
        self.tell(b"".join(frames.encode_event(event) for event in events))

    def call(self, method: str, params: Json, then: Callable[[Json | None], None]) -> bool:
        """Call the most recent client that offers the method. Return False if none does."""
        able = [each for each in self._connections if method in each.offers]
        if not able:
            return False
        name = os.urandom(8).hex()
        timer = asyncio.get_running_loop().call_later(CALL_SECONDS, self._answer, name, None)
        self._calls[name] = Call(able[-1], then, lambda _: None, timer)
        able[-1].write(frames.encode("call", {"id": name, "method": method, "params": params}))
        return True

    def ask(
        self,
        offer: str,
        method: str,
        params: Json,
        then: Callable[[Json | None], None],
        note: Callable[[Json], None],
    ) -> str:
        """Call a client that offers `offer`, without a time limit. Return the id of the call, to
        take it back by, or "" if no client offers it."""
        able = [each for each in self._connections if offer in each.offers and not each.lags]
        if not able:
            return ""
        name = os.urandom(8).hex()
        self._calls[name] = Call(able[-1], then, note, None)
        able[-1].write(frames.encode("call", {"id": name, "method": method, "params": params}))
        return name

    def take_back(self, name: str) -> None:
        """Tell the client that a call is withdrawn; it answers all the same."""
        if (call := self._calls.get(name)) is not None:
            call.client.write(frames.encode("uncall", {"id": name}))

    def replied(self, client: Connection, kind: str, body: object) -> None:
        name = lenient.text(body, "id")
        call = self._calls.get(name)
        if call is None or call.client is not client:
            return
        if kind == "note":
            call.note(lenient.mapping(body, "message"))
            return
        result = body.get("result") if isinstance(body, dict) else None
        self._answer(name, result if isinstance(result, dict) else None)

    def _answer(self, name: str, result: Json | None) -> None:
        call = self._calls.pop(name, None)
        if call is not None:
            if call.timer is not None:
                call.timer.cancel()
            call.then(result)

    def tell(self, data: bytes) -> None:
        for connection in list(self._connections):
            connection.write(data)

    def close(self) -> None:
        for server in (self._server, self._controlling):
            if server is not None:
                server.close()
        if self.bound():
            os.unlink(self.path)
        for connection in list(self._connections):
            connection.close()
