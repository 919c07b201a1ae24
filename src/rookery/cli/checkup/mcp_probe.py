"""`rookery mcp test`: connects to an MCP server with the `mcp` library, and lists its tools.

The library comes with an extra and is slow to load: import this module only for a test."""

import asyncio
import logging
import math
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, override
from urllib.parse import urlsplit

import anyio
import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from httpx_sse import SSEError
from mcp import ClientSession, McpError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, Implementation, JSONRPCMessage, PaginatedRequestParams
from pydantic import ValidationError

import rookery
from rookery.cli.checkup.subject import Program
from rookery.core.json import Json, lenient
from rookery.core.units import duration
from rookery.wire.lines import LineSplitter
from rookery.wire.pipes import PipeReader, PipeWriter

type Heard = MemoryObjectReceiveStream[SessionMessage | Exception]
type WriteStream = MemoryObjectSendStream[SessionMessage]
type Fail = Callable[[str], None]
type LogIn = Callable[[Fail], httpx.Auth]

LOG_IN = "it wants a login"
PAGES = 100
"""Limit on pages of tools; a server may always offer one more."""
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Size limit of one message, in bytes."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
ERRORS = (ExceptionGroup, McpError, OSError, RuntimeError, ValueError, httpx.HTTPError)
"""Exceptions that the library raises for a server that cannot be used."""


class Visit(NamedTuple):
    """The name, version, protocol and tools of an MCP server."""

    name: str
    version: str
    protocol: str
    tools: list[str]


class Failed(Exception):
    """An agent could not use this server; the message says why and what helps."""


async def visit(
    server: Json, environment: Mapping[str, str], within: float, log_in: LogIn | None = None
) -> Visit:
    """Connect to `server`, given in ACP's shape, and return what it says about itself. `log_in`
    makes the authentication for a remote server without a key; it is given the function to call if
    nobody is logged in. Raises Failed."""
    logging.disable()  # the library logs what it also raises
    if "command" not in server:
        return await _visit(lambda fail: _over_web(server, within, fail, log_in), within)
    own = {each["name"]: each["value"] for each in server["env"]}
    argv = [server["command"], *server["args"]]
    try:
        async with _Server(argv, os.getcwd(), {**environment, **own}) as process:
            return await _visit(lambda _: process.connected(), within, process)
    except FileNotFoundError:
        raise Failed(f"{argv[0]!r} is not on PATH") from None
    except (OSError, ValueError) as error:
        raise Failed(f"{argv[0]} cannot be started: {error}") from error


async def _visit(
    connect: Callable[[Fail], Any], within: float, process: "_Server | None" = None
) -> Visit:
    talk = _Talk()
    try:
        async with asyncio.timeout(within) as limit:

            def fail(message: str) -> None:
                """Report a failure that the library would keep to itself until the time is over."""
                talk.failure = talk.failure or message
                limit.reschedule(0)

            async with connect(fail) as (heard, write_stream):
                return await talk.visit(heard, write_stream, fail)
    except TimeoutError:
        late = f"{talk.method} was not answered within {duration(within)}"
        raise Failed(talk.failure or late + (process.output_tail() if process else "")) from None
    except ERRORS as raised:
        error: BaseException = raised
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        closed = isinstance(error, McpError) and error.error.code == CONNECTION_CLOSED
        if process and closed:
            await process.settle()
            raise Failed(process.end_words() + process.output_tail()) from None
        raise Failed(talk.failure or _reason(error, talk.method, within)) from error


class _Talk:
    """A conversation with a server: the current method and the failure, if any."""

    def __init__(self) -> None:
        self.method = "initialize"
        self.failure = ""

    async def visit(self, heard: Heard, write_stream: WriteStream, fail: Fail) -> Visit:
        async def take(message: object) -> None:
            if isinstance(message, Exception):
                fail("its answer is not JSON: this is not an MCP server")

        client = Implementation(name="rookery", title="Rookery", version=rookery.__version__)
        async with ClientSession(
            heard, write_stream, message_handler=take, client_info=client
        ) as session:
            initialized = await session.initialize()
            self.method = "tools/list"
            info, names = initialized.serverInfo, list[str]()
            params: PaginatedRequestParams | None = None
            for _ in range(PAGES if initialized.capabilities.tools is not None else 0):
                page = await session.list_tools(params=params)
                names += [tool.name for tool in page.tools]
                if not page.nextCursor:
                    break
                params = PaginatedRequestParams(cursor=page.nextCursor)
            return Visit(
                info.title or info.name, info.version, str(initialized.protocolVersion), names
            )


def _reason(error: BaseException, method: str, within: float) -> str:
    match error:
        case McpError():
            return f"{method} was refused: {error.error.message} ({error.error.code})"
        case ValidationError():
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            return f"its answer to {method} is not valid MCP: {where}: {first['msg']}"
        case SSEError():
            return "it sends no events: is it --transport http?"
        case httpx.TimeoutException():
            return f"{method} was not answered within {duration(within)}"
        case httpx.HTTPError() | OSError():
            return f"it cannot be reached: {error}"
    return f"{method} failed: {error}"


# ---------------------------------------------------------------- a process


class _Server(Program):
    """A server's process, connected to a client by two streams."""

    @override
    def attach(self, stdout: int, stdin: int) -> None:
        self._send, self.heard = anyio.create_memory_object_stream[SessionMessage | Exception](
            math.inf
        )
        self._lines, self.noise = LineSplitter(MAX_MESSAGE_BYTES), ""
        self._out = PipeReader(stdout, self._take, self._send.close)
        self._in = PipeWriter(stdin, lambda _error: None)

    @override
    def detach(self) -> None:
        self._out.close()
        self._in.close()
        self._send.close()

    def _take(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            text = line if isinstance(line, bytes) else b""
            try:
                message = JSONRPCMessage.model_validate_json(text)
            except ValueError:
                self.noise = lenient.first_line(text.decode("utf-8", "replace"))
            else:
                self._send.send_nowait(SessionMessage(message))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[Heard, WriteStream]]:
        write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def write() -> None:
            async for each in outgoing:
                text = each.message.model_dump_json(by_alias=True, exclude_none=True)
                self._in.write(text.encode() + b"\n")

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            yield self.heard, write_stream
            group.cancel_scope.cancel()

    def output_tail(self) -> str:
        """Return the end of its stderr, or stray output, to append to an error."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        if lines:
            return f"; its stderr ends with: {lines[-1]}"
        return f"; on its stdout: {self.noise}" if self.noise else ""


# ---------------------------------------------------------------- the network


@asynccontextmanager
async def _over_web(
    server: Json, within: float, fail: Fail, log_in: LogIn | None
) -> AsyncIterator[tuple[Heard, WriteStream]]:
    url, is_sse = server["url"], server["type"] == "sse"
    headers = {"User-Agent": "rookery"} | {
        each["name"]: each["value"] for each in server["headers"]
    }

    has_key = any(name.lower() == "authorization" for name in headers)
    auth = None if log_in is None or has_key else log_in(fail)

    async def check(response: httpx.Response) -> None:
        # Over HTTP, only the answers count: a server need not offer a stream, or end a session.
        if auth is not None and response.status_code == httpx.codes.UNAUTHORIZED:
            return  # it is logged in to, or that fails
        if not response.is_success and (is_sse or response.request.method == "POST"):
            fail(_refusal(response))

    def client(*_: Any, **__: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers=headers,
            timeout=within,
            auth=auth,
            trust_env=urlsplit(url).hostname not in LOOPBACK,  # no proxy for this machine
            event_hooks={"response": [check]},
        )

    if is_sse:
        async with sse_client(url, httpx_client_factory=client) as (heard, write_stream):
            yield heard, write_stream
    else:
        async with (
            client() as http,
            streamable_http_client(url, http_client=http) as (heard, write_stream, _),
        ):
            yield heard, write_stream


def _refusal(response: httpx.Response) -> str:
    status = f"HTTP {response.status_code} {response.reason_phrase}"
    match response.status_code:
        case 401 if "resource_metadata" in response.headers.get("WWW-Authenticate", ""):
            return LOG_IN
        case 401 | 403:
            return f'{status}: it needs a key, for example --header "Authorization=Bearer …"'
        case 404 | 405:
            return f"{status}: is the path right, and the transport (--transport http or sse)?"
    if response.is_redirect:
        return f"{status}: it is at {response.headers['Location']}"
    return status
