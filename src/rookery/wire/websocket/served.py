"""The server's side of a connection, which outlives its socket if the client can resume
(`resuming`). It is independent of any web framework: a socket hands in what it received and takes
what is to be sent."""

import asyncio
from collections.abc import Callable, Mapping

from rookery.wire.lines import TooLong
from rookery.wire.websocket.resuming import (
    CONNECTION,
    LATEST,
    RECEIVED,
    UNCONFIRMED,
    Received,
    Sent,
    confirmed,
)


class Served:
    """A Carrier.

    turn = connection.attach(received)       # a socket came
    while (text := await connection.next(turn)) is not None: …send it
    connection.take(turn, text)              # a text frame came
    connection.detach(turn)                  # the socket is gone
    """

    def __init__(self, id: str, *, resumes: bool, owner: str = "") -> None:
        """`resumes`: the client has asked for it. `owner`: the only one who may resume it."""
        self.id = id
        self.owner = owner
        self.resumes = resumes
        self.on_message: Callable[[bytes | TooLong], None] = lambda _: None
        self.on_end: Callable[[], None] = lambda: None
        self._sent, self._received = Sent(), Received()
        self._handed = 0
        """The last message that the socket was given."""
        self._unhanded = 0
        """Bytes after it."""
        self._turn = 0
        self.attached = False
        self._notes: list[bytes] = []
        self._ended = False
        self._moved = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def headers(self) -> Mapping[str, str]:
        """Return the headers for the response to the handshake."""
        resumes = {RECEIVED: str(self._received.count)} if self.resumes else {}
        return {CONNECTION: self.id, **resumes}

    # --- the socket ------------------------------------------------------------------------------

    def can_resume(self, received: int) -> bool:
        return self.resumes and not self._ended and self._sent.has_after(received)

    def attach(self, received: int = 0) -> int:
        """Attach a new socket, whose client has `received` of our messages; it replaces one still
        attached. Returns the handle that `next`, `take` and `detach` need."""
        self._turn += 1
        self.attached = True
        if self.resumes:
            self._sent.confirm(received)
            self._handed, self._unhanded = received, self._sent.size
        self._notes.clear()
        self._moved.set()
        return self._turn

    async def next(self, turn: int) -> str | None:
        """Wait for the next message to send; return None if the socket is to be closed."""
        while turn == self._turn and not self._ended:
            if self._notes:
                return self._notes.pop().decode()
            if self._handed < self._sent.last:
                self._handed += 1
                message = self._sent.get(self._handed)
                self._unhanded -= len(message)
                if not self.resumes:
                    self._sent.confirm(self._handed)
                self._moved.set()
                return message.decode()
            self._moved.clear()
            await self._moved.wait()
        return None

    def take(self, turn: int, text: str) -> None:
        if turn != self._turn or self._ended:
            return
        message = text.encode("utf-8", "replace")
        if self.resumes:
            count = confirmed(message)
            if count is not None:
                if not self._sent.confirm(count):
                    self.end()
                return
            if self._received.take(len(message)):
                self._confirm()
            elif self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(LATEST, self._confirm)
        self.on_message(message)

    def is_carried_by(self, turn: int) -> bool:
        return turn == self._turn

    def detach(self, turn: int) -> None:
        """Detach a closed socket. A client that cannot resume is gone with it."""
        if turn != self._turn:
            return
        self.attached = False
        self._turn += 1
        if not self.resumes:
            self.end()

    def end(self) -> None:
        """End the connection: the client is gone for good."""
        if not self._ended:
            self.close()
            self.on_end()

    def _confirm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._received.is_open and not self._ended:
            self._notes = [self._received.confirming()]
            self._moved.set()

    # --- the peer --------------------------------------------------------------------------------

    @property
    def broken(self) -> bool:
        return self._ended

    @property
    def buffered(self) -> int:
        return self._unhanded

    def write(self, data: bytes) -> None:
        if self._ended:
            return
        message = data.rstrip(b"\n")
        self._sent.add(message)
        self._unhanded += len(message)
        if self._sent.size - self._unhanded > UNCONFIRMED:
            self.end()  # the client takes, and confirms nothing
        self._moved.set()

    def flush(self) -> None:
        """Do nothing: the socket takes messages when it can."""

    async def drain(self, below: int) -> bool:
        """Wait until less than `below` bytes are buffered, also while no socket is attached: a
        client that is away must not fill our memory."""
        while not self._ended and self._unhanded >= below:
            self._moved.clear()
            await self._moved.wait()
        return not self._ended

    def pause(self) -> None:
        """Do nothing: a server reads on, since messages to it are small."""

    def resume(self) -> None:
        """Do nothing, like `pause`."""

    def close(self) -> None:
        self._ended = True
        self.attached = False
        if self._timer is not None:
            self._timer.cancel()
        self._moved.set()
