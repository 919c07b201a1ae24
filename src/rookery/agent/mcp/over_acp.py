"""Connects to MCP servers that the ACP client provides (`wire.mcp`): neither a port nor a process
is needed, so they work in a sandbox without a network.

Written for openhands-sdk 1.58 and mcp 1.30, whose client begins with `initialize`; its messages are
translated to MCP 2026-07-28 and back here. Unnecessary once the SDK's client speaks that itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, override

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp.client.transports import ClientTransport
from mcp import ClientSession
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    LATEST_PROTOCOL_VERSION,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
)
from openhands.sdk.mcp.client import MCPClient, ToolsReconciledCallback
from pydantic import ValidationError

from rookery.agent.sdk_patches import mcp_calls
from rookery.core.json import Json, lenient
from rookery.wire import mcp
from rookery.wire.failures import RpcError, RpcFailure

ENDED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
WANTS_INPUT = "the server asks for more input during a call, which is not supported"


class Channel(NamedTuple):
    """The connection to the client's servers, usable from any thread."""

    caller: mcp.Caller
    loop: asyncio.AbstractEventLoop
    """The one that `caller` is used in."""

    async def ask(self, server: str, method: str, params: Json, on_note: mcp.OnNote) -> Json:
        asking = self.caller.ask(server, method, params, on_note)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, self.loop))


def connect(
    channel: Channel, server: str, timeout: float, on_tools_reconciled: ToolsReconciledCallback
) -> MCPClient:
    """Connect like the SDK's `create_mcp_tools`, over a transport that it does not have."""
    client, list_tools = mcp_calls.client_over(Transport(channel, server), on_tools_reconciled)
    with ExitStack() as undo:
        undo.callback(client.sync_close)
        client.call_async_from_sync(list_tools, timeout=timeout, client=client)
        undo.pop_all()
    return client


class Transport(ClientTransport):
    def __init__(self, channel: Channel, server: str) -> None:
        self._channel = channel
        self._server = server

    @override
    @asynccontextmanager
    async def connect_session(self, **named: Any) -> AsyncIterator[ClientSession]:
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as group,
        ):
            talk = _Talk(partial(self._channel.ask, self._server), *theirs, group)
            group.start_soon(talk.hear)
            group.start_soon(talk.say)
            async with ClientSession(*ours, **named) as session:
                yield session
            group.cancel_scope.cancel()


class _Talk:
    """The dialogue of the SDK's client with a server. Runs in that client's own loop."""

    def __init__(
        self,
        ask: Any,
        heard: MemoryObjectReceiveStream[SessionMessage | Exception],
        outbound: MemoryObjectSendStream[SessionMessage],
        group: TaskGroup,
    ) -> None:
        self._ask = ask
        self._heard = heard
        self._outbound = outbound
        self._group = group
        self._loop = asyncio.get_running_loop()
        self._open: dict[str | int, anyio.CancelScope] = {}
        self._due = asyncio.Queue[Json]()

    async def hear(self) -> None:
        async for each in self._heard:
            message = each.message.root if isinstance(each, SessionMessage) else None
            if isinstance(message, JSONRPCRequest):
                self._group.start_soon(self._serve, message)
            elif isinstance(message, JSONRPCNotification):
                given = lenient.mapping({"params": message.params}, "params")
                if message.method == "notifications/cancelled" and (
                    scope := self._open.get(given.get("requestId", ""))
                ):
                    scope.cancel()

    async def _serve(self, request: JSONRPCRequest) -> None:
        with anyio.CancelScope() as scope:
            self._open[request.id] = scope
            try:
                answer = await self._answer(request.method, request.params or {})
            except RpcError as error:
                answer = {"error": {"code": error.code, "message": error.message}}
            except RpcFailure as error:
                answer = {"error": {"code": mcp.UNAVAILABLE, "message": str(error)}}
            finally:
                del self._open[request.id]
            self._due.put_nowait({"id": request.id, **answer})

    async def _answer(self, method: str, params: Json) -> Json:
        if method == "ping":
            return {"result": {}}
        if method == "initialize":
            return await self._discover()
        answer: Json = await self._ask(method, params, self._noted)
        if "error" in answer:
            code = lenient.integer(answer["error"], "code") or INTERNAL_ERROR
            raise RpcError(code, lenient.text(answer["error"], "message"))
        if lenient.text(answer["result"], "resultType") == "input_required":
            raise RpcError(INTERNAL_ERROR, WANTS_INPUT)
        return {"result": lenient.mapping(answer, "result")}

    async def _discover(self) -> Json:
        result = (await self._answer("server/discover", {}))["result"]
        can = lenient.mapping(result, "capabilities")
        if lenient.flag(lenient.mapping(can, "tools"), "listChanged"):
            self._group.start_soon(self._subscribe)
        unnamed = {"name": "server", "version": ""}
        about = lenient.mapping(lenient.mapping(result, "_meta"), mcp.SERVER) or unnamed
        more = {"instructions": text} if (text := lenient.text(result, "instructions")) else {}
        reply = {"protocolVersion": LATEST_PROTOCOL_VERSION, "capabilities": can}
        return {"result": {**reply, "serverInfo": about, **more}}

    async def _subscribe(self) -> None:
        """Subscribe to changes of the server's tools, for as long as the connection lasts."""
        wanted = {"notifications": {"toolsListChanged": True}}
        with suppress(RpcFailure):
            await self._ask(mcp.SUBSCRIBE, wanted, self._noted)

    def _noted(self, method: str, params: Json) -> None:
        """Forward a notification. Called in the loop of the agent's connection."""
        with suppress(RuntimeError):  # ours is closed
            message = {"method": method, "params": params}
            self._loop.call_soon_threadsafe(self._due.put_nowait, message)

    async def say(self) -> None:
        """Send the messages in order: notifications about a request precede its answer."""
        while True:
            message = {"jsonrpc": "2.0", **await self._due.get()}
            with suppress(ValidationError, *ENDED):
                await self._outbound.send(SessionMessage(JSONRPCMessage.model_validate(message)))
