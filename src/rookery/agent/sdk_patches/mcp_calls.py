"""Calls of an MCP server's tools: with the server's own timeout, cancelled at the server when
cancelled here, and over a new connection if the server was restarted.

Made for openhands-sdk 1.58, fastmcp 3.4 and mcp 1.30. They send no `notifications/cancelled` by
themselves and do not expose a request's number; and they consider a client connected whose program
has ended, or whose session the server has forgotten, so that every later call fails. Unnecessary
once a cancelled call of the SDK's is cancelled at the server, and a call after a restart reaches
it."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from fastmcp.client.transports import StdioTransport
from mcp.types import CallToolRequest
from openhands.sdk.mcp import utils
from openhands.sdk.mcp.client import MCPClient
from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation
from openhands.sdk.mcp.tool import MCPToolDefinition, MCPToolExecutor

from rookery.agent.sdk_patches import outgoing, wrap

SECONDS = 300.0
"""For a call, unless the server's entry says otherwise."""
LAST_WORD = 1.0
"""Seconds to send a cancellation: the server may not read it."""
GONE = (RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError)
"""The errors of a send when the server is gone."""
TAKEN_BACK = "The call was cancelled."
FORGOTTEN = "Session terminated"
"""The message of mcp for a session that the server does not know: HTTP 404."""

outgoing.keep_schemas(MCPToolDefinition)  # here, with the libraries that an MCP server needs

_sent: ContextVar[list[int] | None] = ContextVar("sent", default=None)


class Call(MCPToolExecutor):
    """The SDK's call, made cancellable. `lent`: used by a sub-agent, whose end does not end the
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
            await _drop(self.client, _has_ended)
            plain: Any = super()  # a decorator of the SDK's hides the types
            observation: MCPToolObservation = await self._noted_call(plain, action)
            if observation.is_error and FORGOTTEN in observation.text:  # it was not carried out
                await _drop(self.client, MCPClient.is_connected)
                observation = await self._noted_call(plain, action)
            return observation
        except asyncio.CancelledError:  # by the user, or by its time limit
            with anyio.move_on_after(LAST_WORD, shield=True), suppress(*GONE):
                for request in sent:
                    await self.client.cancel(request, "cancelled by the client")
            raise
        finally:
            _sent.reset(token)

    async def _noted_call(self, plain: Any, action: MCPToolAction) -> MCPToolObservation:
        if self.client.is_connected():
            wrap(self.client.session, "send_request", _noted)
        observation: MCPToolObservation = await plain.call_tool(action)
        return observation

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


def tool(definition: MCPToolDefinition, name: str, timeout: float | None) -> MCPToolDefinition:
    """Return a server's tool under the name that the model has for it."""
    executor = definition.executor
    assert isinstance(executor, MCPToolExecutor)
    called = definition.mcp_tool.model_copy(update={"name": name})
    own = Call(definition.mcp_tool.name, executor.client, timeout or SECONDS)
    return definition.model_copy(update={"mcp_tool": called, "executor": own})


def lend(tools: Iterable[Any]) -> list[MCPToolDefinition]:
    """Return the same servers' tools for a sub-agent, using the existing connections."""
    return [_lend(tool) for tool in tools if isinstance(tool, MCPToolDefinition)]


def _lend(definition: MCPToolDefinition) -> MCPToolDefinition:
    executor = definition.executor
    assert isinstance(executor, MCPToolExecutor)
    own = Call(executor.tool_name, executor.client, executor.timeout, lent=True)
    return definition.model_copy(update={"executor": own})


_dropping: WeakKeyDictionary[MCPClient, asyncio.Lock] = WeakKeyDictionary()


async def _drop(client: MCPClient, is_useless: Callable[[MCPClient], bool]) -> None:
    """Disconnect a client; its next call connects it again. Calls may run concurrently."""
    async with _dropping.setdefault(client, asyncio.Lock()):
        if is_useless(client):
            closing: Any = client.close  # has no types
            await closing()


def _has_ended(client: MCPClient) -> bool:
    """Tell whether the server's program has ended."""
    transport: Any = getattr(client.transport, "transport", None)
    return isinstance(transport, StdioTransport) and transport._is_session_dead()


async def _noted(send: Any, request: Any, *rest: Any, **named: Any) -> Any:
    """Note the number of a call for its caller: the client does not expose it, and a call can be
    cancelled only by its number."""
    sent = _sent.get()
    if sent is not None and isinstance(request.root, CallToolRequest):
        sent.append(send.__self__._request_id)  # which `send` takes before it waits for anything
    return await send(request, *rest, **named)


def client_over(transport: Any, on_tools: Any) -> tuple[MCPClient, Callable[..., Any]]:
    """Make a client as `create_mcp_tools` does, over a transport that it does not know. Return it
    with the function that connects it."""
    handler = utils._ToolListChangedHandler(client=None)  # type: ignore[arg-type]
    made: Any = MCPClient  # without types
    client: MCPClient = made(transport, log_handler=utils.log_handler, message_handler=handler)
    handler._client = client
    client._tools_reconciled_callback = on_tools
    return client, utils._connect_and_list_tools
