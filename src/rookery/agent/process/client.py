"""Who is on the other side of the agent, and what it takes."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import HIGH_WATER, ConnectionClosed, Peer

type Json = dict[str, Any]


class Client(NamedTuple):
    peer: Peer
    capabilities: Json
    fork: Callable[[Any], Awaitable[str]]
    """Make another session of one; says how it is found."""

    def tell(self, session: str, update: Json) -> None:
        """Without secrets: a tool may have read them, a server may have said them."""
        params = {"sessionId": session, "update": KNOWN.json(update)}
        self.peer.notify("session/update", params)

    @property
    def is_behind(self) -> bool:
        """Whether it does not read as fast as it is told."""
        return self.peer.buffered > HIGH_WATER

    async def keep_up(self) -> None:
        """Wait until it has read what it was told, or is gone."""
        with suppress(ConnectionClosed):
            await self.peer.drain()
