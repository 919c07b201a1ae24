"""An agent at an address: a connection instead of a process. A break that the other end can heal
(another Rookery's) is waited for; any other ends the agent, and its next start connects again and
resumes its session."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from rookery.wire.http.link import HttpLink
from rookery.wire.jsonrpc import Peer
from rookery.wire.websocket.client import ConnectError, shown
from rookery.wire.websocket.link import AddressLink

GOODBYE = 1.0
"""Seconds for the last messages to go out."""

UNSAID = 5.0
"""Seconds of a break that nobody need hear of."""


class RemoteAgent:
    """One connection to an agent. `on_exit(why)` is called once, after its last message; "": we
    ended it."""

    def __init__(
        self,
        peer: Peer,
        link: AddressLink | HttpLink,
        url: str,
        on_exit: Callable[[str], None],
        on_break: Callable[[str], None],
    ) -> None:
        """`on_break`: receives a message about a break that lasts, and about its end."""
        self.peer = peer.carried_by(link)
        self.link = link
        self._where = shown(url)
        self._on_exit = on_exit
        self._on_break = on_break
        self._timer: asyncio.TimerHandle | None = None
        self._asked = self._done = False
        self._connecting: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        peer.on_closed = self._lost
        link.on_away, link.on_back = self._away, self._back

    def connect(self, patience: float, then: Callable[[str], None]) -> None:
        """Connect; call `then("")` once the connection stands, or `then` with why it does not."""
        self._connecting = asyncio.create_task(self._connect(patience, then), name="connect")

    async def _connect(self, patience: float, then: Callable[[str], None]) -> None:
        try:
            await self.link.open(patience)
        except ConnectError as error:
            self._done = True
            then(str(error))
            return
        then("")

    def end(self, _grace: float) -> "asyncio.Task[None]":
        """Close the connection. What the agent does on its side is its own business."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(), name="leave the agent")
        return self._ending

    async def _end(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
        self.peer.on_closed = None
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self.link.drain(1)
        self.peer.close()
        self._exit("")

    def _lost(self) -> None:
        self._exit(f"The connection to {self._where} was lost: {self.link.why}.")

    def _exit(self, why: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._done:
            self._done = True
            self._on_exit(why)

    def _away(self, why: str) -> None:
        text = f"The connection to {self._where} is interrupted ({why}). Trying again."
        self._timer = asyncio.get_running_loop().call_later(UNSAID, self._tell, text)

    def _tell(self, text: str) -> None:
        self._asked = True
        self._on_break(text)

    def _back(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._asked:
            self._asked = False
            self._on_break(f"Connected to {self._where} again; nothing was lost.")
