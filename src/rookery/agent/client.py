"""Who is on the other side of the agent, and what it takes."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from rookery.wire.jsonrpc import Peer

type Json = dict[str, Any]


class Client(NamedTuple):
    peer: Peer
    capabilities: Json
    fork: Callable[[Any], Awaitable[str]]
    """Make another session of one; says how it is found."""

    def tell(self, session: str, update: Json) -> None:
        self.peer.notify("session/update", {"sessionId": session, "update": update})
