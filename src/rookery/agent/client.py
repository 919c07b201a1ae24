"""Who is on the other side of the agent, and what it takes."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from rookery.agent.settings.secrets import KNOWN
from rookery.wire.jsonrpc import Peer

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
