"""The agent's ACP client: its capabilities, and the updates it is sent."""

from contextlib import suppress
from typing import NamedTuple

from rookery.core.json import Json
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import HIGH_WATER, ConnectionClosed, Peer
from rookery.wire.mcp import Caller


class Client(NamedTuple):
    peer: Peer
    capabilities: Json
    mcp: Caller
    """Asks the MCP servers that it provides."""

    def tell(self, session: str, update: Json) -> None:
        """Send an update, without secrets that a tool or a server may have shown."""
        params = {"sessionId": session, "update": KNOWN.json(update)}
        self.peer.notify("session/update", params)

    @property
    def is_behind(self) -> bool:
        """Whether the client reads slower than we write."""
        return self.peer.buffered > HIGH_WATER

    async def keep_up(self) -> None:
        """Wait until the client has read everything, or is gone."""
        with suppress(ConnectionClosed):
            await self.peer.drain()
