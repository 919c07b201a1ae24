"""A call of an MCP server's tool: within the server's own time, and taken back from the server when
nobody waits for it any more.

Made for openhands-sdk 1.58 and mcp 1.30: neither sends `notifications/cancelled` by itself.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import anyio
from mcp.types import CallToolRequest
from openhands.sdk.mcp.client import MCPClient
from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation
from openhands.sdk.mcp.tool import MCPToolDefinition, MCPToolExecutor

SECONDS = 300.0
"""For a call, where the server's entry says nothing else."""
LAST_WORD = 1.0
"""Seconds to tell a server that nobody waits: it may not read any more."""
GONE = (RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError)
"""What it raises where nobody is there to be told."""
TAKEN_BACK = "The call was cancelled."

_sent: ContextVar[list[int] | None] = ContextVar("sent", default=None)


class Call(MCPToolExecutor):
    """The SDK's, with an end. `lent`: to a sub-agent, whose end does not end the server."""

    def __init__(
        self, tool_name: str, client: MCPClient, timeout: float = SECONDS, *, lent: bool = False
    ) -> None:
        super().__init__(tool_name, client, timeout)
        self._lent = lent
        self._running: dict[anyio.CancelScope, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()

    async def call_tool(self, action: MCPToolAction) -> MCPToolObservation:  # type: ignore[override]
        with anyio.CancelScope() as scope, self._interruptible(scope):
            return await self._call(action)
        return MCPToolObservation.from_text(TAKEN_BACK, is_error=True, tool_name=self.tool_name)

    async def _call(self, action: MCPToolAction) -> MCPToolObservation:
        sent: list[int] = []
        token = _sent.set(sent)
        try:
            if self.client.is_connected():
                _note_requests(self.client.session)
            plain: Any = super()  # a decorator of the SDK's hides the types
            observation: MCPToolObservation = await plain.call_tool(action)
            return observation
        except asyncio.CancelledError:  # by a person, or since its time is over
            with anyio.move_on_after(LAST_WORD, shield=True), suppress(*GONE):
                for request in sent:
                    await self.client.cancel(request, "nobody waits for it any more")
            raise
        finally:
            _sent.reset(token)

    @contextmanager
    def _interruptible(self, scope: anyio.CancelScope) -> Iterator[None]:
        with self._lock:
            self._running[scope] = asyncio.get_running_loop()
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(scope, None)

    def interrupt(self) -> None:
        with self._lock:
            running = list(self._running.items())
        for scope, loop in running:
            with suppress(RuntimeError):  # a loop that is closed has nothing to end
                loop.call_soon_threadsafe(scope.cancel)

    def close(self) -> None:
        if not self._lent:
            super().close()


def tool(found: MCPToolDefinition, name: str, timeout: float) -> MCPToolDefinition:
    """A server's tool under the name that the model has for it."""
    executor = found.executor
    assert isinstance(executor, MCPToolExecutor)
    called = found.mcp_tool.model_copy(update={"name": name})
    own = Call(found.mcp_tool.name, executor.client, timeout)
    return found.model_copy(update={"mcp_tool": called, "executor": own})


def lend(found: MCPToolDefinition) -> MCPToolDefinition:
    """The same tool for a sub-agent: over the connection that there is."""
    executor = found.executor
    assert isinstance(executor, MCPToolExecutor)
    own = Call(executor.tool_name, executor.client, executor.timeout, lent=True)
    return found.model_copy(update={"executor": own})


def _note_requests(session: Any) -> None:
    """From now on the number of each call is noted for whoever makes it: the client has no word for
    that, and a call can only be taken back by its number."""
    send = session.send_request
    if hasattr(send, "__wrapped__"):
        return

    async def noted(request: Any, *rest: Any, **named: Any) -> Any:
        sent = _sent.get()
        if sent is not None and isinstance(request.root, CallToolRequest):
            sent.append(session._request_id)  # which `send` takes before it waits for anything
        return await send(request, *rest, **named)

    noted.__wrapped__ = send  # type: ignore[attr-defined]
    session.send_request = noted
