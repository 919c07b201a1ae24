"""A call of an MCP server's tool: with the server's own time limit, and cancelled at the server
when it is cancelled here.

Made for openhands-sdk 1.58 and mcp 1.30, which send no `notifications/cancelled` by themselves and
name no request's number. Unnecessary once a cancelled call of the SDK's is cancelled at the server.
"""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import anyio
from mcp.types import CallToolRequest
from openhands.sdk.mcp.client import MCPClient
from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation
from openhands.sdk.mcp.tool import MCPToolDefinition, MCPToolExecutor

from rookery.agent.sdk_patches import wrap

SECONDS = 300.0
"""For a call, unless the server's entry says otherwise."""
LAST_WORD = 1.0
"""Seconds to send a cancellation: the server may not read it."""
GONE = (RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError)
"""What a send raises when the server is gone."""
TAKEN_BACK = "The call was cancelled."

_sent: ContextVar[list[int] | None] = ContextVar("sent", default=None)


class Call(MCPToolExecutor):
    """The SDK's call, which can be cancelled. `lent`: to a sub-agent, whose end does not end the
    server."""

    def __init__(
        self, tool_name: str, client: MCPClient, timeout: float, *, lent: bool = False
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
                wrap(self.client.session, "send_request", _noted)
            plain: Any = super()  # a decorator of the SDK's hides the types
            observation: MCPToolObservation = await plain.call_tool(action)
            return observation
        except asyncio.CancelledError:  # by the user, or by its time limit
            with anyio.move_on_after(LAST_WORD, shield=True), suppress(*GONE):
                for request in sent:
                    await self.client.cancel(request, "cancelled by the client")
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


def tool(found: MCPToolDefinition, name: str, timeout: float | None) -> MCPToolDefinition:
    """A server's tool under the name that the model has for it."""
    executor = found.executor
    assert isinstance(executor, MCPToolExecutor)
    called = found.mcp_tool.model_copy(update={"name": name})
    own = Call(found.mcp_tool.name, executor.client, timeout or SECONDS)
    return found.model_copy(update={"mcp_tool": called, "executor": own})


def lend(tools: Iterable[Any]) -> list[MCPToolDefinition]:
    """The same tools of servers for a sub-agent: over the connections that there are."""
    return [_lend(tool) for tool in tools if isinstance(tool, MCPToolDefinition)]


def _lend(found: MCPToolDefinition) -> MCPToolDefinition:
    executor = found.executor
    assert isinstance(executor, MCPToolExecutor)
    own = Call(executor.tool_name, executor.client, executor.timeout, lent=True)
    return found.model_copy(update={"executor": own})


async def _noted(send: Any, request: Any, *rest: Any, **named: Any) -> Any:
    """Notes the number of a call for its caller: the client does not offer it, and only by its
    number can a call be cancelled."""
    sent = _sent.get()
    if sent is not None and isinstance(request.root, CallToolRequest):
        sent.append(send.__self__._request_id)  # which `send` takes before it waits for anything
    return await send(request, *rest, **named)
