"""MCP servers that an editor provides over ACP (`wire.mcp`): the agent's requests to them are
passed to the editor that has the session open, and its answers and notifications come back."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.wire import mcp
from rookery.wire.failures import RpcError
from rookery.wire.frames import COMMAND_BYTES, encode
from rookery.wire.jsonrpc import Incoming
from rookery.worker.clients import Clients

COMES = 10.0
"""Seconds for which a request waits for its editor, which may be about to open the session."""
ACTIVE = 64
"""Requests at a time."""
GONE = "the editor that provides this MCP server does not have the session open"


class Waiting(NamedTuple):
    incoming: Incoming
    envelope: mcp.Envelope
    timer: asyncio.TimerHandle


class EditorServers:
    def __init__(self, clients: Clients, notify: Callable[[str, Json], None]) -> None:
        self._clients = clients
        self._notify = notify
        self._active: set[tuple[str, str]] = set()
        self._waiting: dict[tuple[str, str], Waiting] = {}
        clients.on_came = self._retry

    def take(self, incoming: Incoming) -> None:
        try:
            envelope = mcp.Envelope(incoming.params)
            self._check(incoming, envelope)
        except RpcError as error:
            incoming.fail(error.code, error.message)
            return
        if not self._ask(incoming, envelope):
            timer = asyncio.get_running_loop().call_later(COMES, self._give_up, envelope.key)
            self._waiting[envelope.key] = Waiting(incoming, envelope, timer)
            incoming.cancelled = partial(self._give_up, envelope.key)

    def forget(self) -> None:
        """Drop all open requests: the agent is gone."""
        for waiting in self._waiting.values():
            waiting.timer.cancel()
        self._waiting.clear()
        self._active.clear()

    def _check(self, incoming: Incoming, envelope: mcp.Envelope) -> None:
        if envelope.key in self._active or envelope.key in self._waiting:
            raise RpcError(mcp.TOO_MUCH, "a request with this requestId is still open")
        if len(self._active) + len(self._waiting) >= ACTIVE:
            raise RpcError(mcp.TOO_MUCH, f"{ACTIVE} requests to MCP servers are open already")
        if len(encode("call", incoming.params)) > COMMAND_BYTES:
            raise RpcError(mcp.TOO_MUCH, f"a request may have at most {COMMAND_BYTES} bytes")

    def _ask(self, incoming: Incoming, envelope: mcp.Envelope) -> bool:
        """Pass a request on. Return False if no editor that provides its server is connected."""

        def answered(result: Json | None) -> None:
            self._active.discard(envelope.key)
            if error := lenient.mapping(result, "error"):
                code = lenient.integer(error, "code") or mcp.BROKEN
                incoming.fail(code, lenient.text(error, "message", "failed"), error.get("data"))
            elif result is None:
                incoming.fail(mcp.UNAVAILABLE, GONE)
            else:
                incoming.reply(result.get("answer"))

        def noted(message: Json) -> None:
            if envelope.key in self._active:
                about = {"serverId": envelope.server, "requestId": envelope.request}
                self._notify(mcp.METHOD, message | about)

        offer = mcp.offer_of(envelope.server)
        name = self._clients.ask(offer, mcp.METHOD, incoming.params, answered, noted)
        if name:
            self._active.add(envelope.key)
            incoming.cancelled = partial(self._clients.take_back, name)
        return bool(name)

    def _retry(self) -> None:
        for key, waiting in list(self._waiting.items()):
            if self._ask(waiting.incoming, waiting.envelope):
                waiting.timer.cancel()
                del self._waiting[key]

    def _give_up(self, key: tuple[str, str]) -> None:
        if (waiting := self._waiting.pop(key, None)) is not None:
            waiting.timer.cancel()
            waiting.incoming.fail(mcp.UNAVAILABLE, GONE)
