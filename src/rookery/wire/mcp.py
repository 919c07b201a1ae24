"""MCP over ACP: an MCP server that the ACP client provides, reached by requests on the existing
connection. Each carries one request of MCP 2026-07-28, which has no `initialize` and no state;
notifications about a request come back by its `requestId`."""

from collections.abc import Callable
from typing import Any

from rookery.core.json import lenient
from rookery.wire.failures import INVALID_PARAMS, RpcError
from rookery.wire.jsonrpc import Peer

type Json = dict[str, Any]
type OnNote = Callable[[str, Json], None]
"""Hears a notification about a request: its method and its parameters."""

KIND = "acp"
METHOD = "mcp/message"
VERSION = "2026-07-28"
SUBSCRIBE = "subscriptions/listen"

_META = "io.modelcontextprotocol/"
PROTOCOL, CAPABILITIES, CLIENT, SERVER = (
    f"{_META}{key}" for key in ("protocolVersion", "clientCapabilities", "clientInfo", "serverInfo")
)

TOO_MUCH, UNAVAILABLE, BROKEN = -33000, -33001, -33002
"""Codes of errors that are not the server's own: a limit, no such server, a server that failed."""
UNSUPPORTED_VERSION = -32022


def offer_of(server: str) -> str:
    """Return the name under which a worker's client offers this server."""
    return f"{METHOD} {server}"


class Envelope:
    """The server, request and content of an MCP message over ACP."""

    def __init__(self, params: object) -> None:
        """Parse the parameters. Raises RpcError."""
        self.server = lenient.text(params, "serverId")
        self.request = lenient.text(params, "requestId")
        self.method = lenient.text(params, "method")
        self.params = lenient.mapping(params, "params")
        if not (self.server and self.request and self.method):
            raise RpcError(INVALID_PARAMS, "serverId, requestId and method are needed")

    @property
    def key(self) -> tuple[str, str]:
        return self.server, self.request


class Caller:
    """Sends requests to the MCP servers of the client behind `peer`."""

    def __init__(self, peer: Peer, about: Json) -> None:
        """`about`: the identity of the caller, as MCP's `clientInfo`."""
        self._peer = peer
        self._about = about
        self._notes: dict[tuple[str, str], OnNote] = {}
        self._last = 0

    async def ask(self, server: str, method: str, params: Json, on_note: OnNote) -> Json:
        """Send a request; return MCP's response: `result`, or `error`. Raises RpcFailure; a
        cancellation is passed on."""
        self._last += 1
        key = server, str(self._last)
        about = {PROTOCOL: VERSION, CAPABILITIES: {}, CLIENT: self._about}
        inner = {**params, "_meta": about | lenient.mapping(params, "_meta")}
        outer: Json = {"serverId": server, "requestId": key[1], "method": method, "params": inner}
        self._notes[key] = on_note
        try:
            answer = await self._peer.request(METHOD, outer)
        finally:
            del self._notes[key]
        if isinstance(answer, dict) and "result" in answer:
            return {"result": answer["result"]}
        if error := lenient.mapping(answer, "error"):
            return {"error": error}
        raise RpcError(BROKEN, "the client's answer has neither a result nor an error")

    def heard(self, params: object) -> None:
        """Handle a notification; one about a request that has ended is dropped."""
        try:
            envelope = Envelope(params)
        except RpcError:
            return
        if (on_note := self._notes.get(envelope.key)) is not None:
            on_note(envelope.method, envelope.params)
