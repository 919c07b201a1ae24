"""`rookery acp`: an ACP agent on stdio for editors, whose sessions are Rookery's.

`initialize` is answered before anything is loaded that it does not need; the rest comes with the
first request about a session. The editor may go at any moment: the sessions go on (row W1).
"""

import asyncio
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import rookery
from rookery.core.environment import OVERRIDE
from rookery.wire.jsonrpc import (
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    ConnectionClosed,
    Incoming,
    Peer,
    RpcError,
)
from rookery.wire.params import invalid, version

if TYPE_CHECKING:
    from rookery.acp.bridge.sessions import Sessions

type Json = dict[str, Any]

WIND_DOWN = 1.0
"""Seconds after the end of stdin for requests to be carried out, and for answers to be written."""

CAPABILITIES: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        "list": {},
        "delete": {},
        "resume": {},
        "close": {},
        "additionalDirectories": {},
    },
}
METHODS = frozenset(
    f"session/{word}"
    for word in (
        *("new", "load", "resume", "list", "close", "delete"),
        *("prompt", "set_mode", "set_config_option"),
    )
)


class Arguments(NamedTuple):
    agent: str = ""
    command: str = ""
    resume: str = ""
    last: bool = False
    override: bool = False


class Bridge:
    def __init__(self, arguments: Arguments, group: asyncio.TaskGroup) -> None:
        self.closed = asyncio.Event()
        self._arguments = arguments
        self._group = group
        self._client: Json | None = None
        self._sessions: Sessions | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.peer = Peer.over_stdio(
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_closed=self.closed.set,
            answer_noise=True,
        )

    # --- requests --------------------------------------------------------------------------------

    def _on_request(self, request: Incoming) -> None:
        try:
            self._take(request)
        except RpcError as error:
            request.fail(error.code, error.message, error.data)

    def _take(self, request: Incoming) -> None:
        params = {} if request.params is None else request.params
        if request.method != "initialize" and request.method not in METHODS:
            request.unknown()
        elif not isinstance(params, dict):
            raise invalid("params is not an object")
        elif request.method == "initialize":
            self._initialize(request, params)
        elif self._client is None:
            raise RpcError(INVALID_REQUEST, "initialize comes first")
        else:
            task = self._begin(self._serve(request, params), request.method)
            request.cancelled = lambda: self._take_back(request, task)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        task = self._group.create_task(work, name=name)
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return task

    async def _serve(self, request: Incoming, params: Json) -> None:
        try:
            await self._known_sessions().serve(request, params)
        except RpcError as error:
            request.fail(error.code, error.message, error.data)
        except ConnectionClosed:
            return
        except asyncio.CancelledError:
            request.fail(REQUEST_CANCELLED, "Request cancelled")
            raise

    def _initialize(self, request: Incoming, params: Json) -> None:
        version(params)
        capabilities = params.get("clientCapabilities")
        self._client = capabilities if isinstance(capabilities, dict) else {}
        info = {"name": "rookery", "title": "Rookery", "version": rookery.__version__}
        request.reply(
            {
                "protocolVersion": 1,
                "agentCapabilities": CAPABILITIES,
                "agentInfo": info,
                "authMethods": [],
            }
        )

    def _on_notification(self, method: str, params: Any) -> None:
        if method == "session/cancel" and isinstance(params, dict):
            # Its first step comes after that of every request that came before it, and before that
            # of every later one: who comes first has the session's ear.
            self._begin(self._cancel(params), method)

    def _take_back(self, request: Incoming, task: "asyncio.Task[None]") -> None:
        """A prompt ends with its turn; whatever else is asked for is not waited for any more."""
        if request.method != "session/prompt":
            task.cancel()
        elif self._sessions is not None:
            asyncio.get_running_loop().call_soon(self._sessions.take_back, request)

    async def _cancel(self, params: Json) -> None:
        if self._sessions is not None:
            await self._sessions.cancel(params)

    def _known_sessions(self) -> "Sessions":
        """Loaded with the first request about one: SQLite and the rest are not needed before."""
        if self._sessions is None:
            from rookery import paths
            from rookery.acp.bridge.attached import Editor
            from rookery.acp.bridge.sessions import Choice, Sessions

            editor = Editor(self.peer, self._client or {}, paths.home(), self._group)
            self._sessions = Sessions(editor, Choice(*self._arguments[:4]))
        return self._sessions

    # --- the end ---------------------------------------------------------------------------------

    async def wind_down(self) -> None:
        """Stdin has ended: what was asked is still carried out, and written, or the time is up."""
        if self._serving:
            await asyncio.wait(self._serving, timeout=WIND_DOWN / 2)
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(WIND_DOWN / 2):
                await self.peer.drain(1)
        self.peer.close()


class Over(Exception):
    """Ends the group: whatever follows a session or waits for one is cancelled."""


async def serve(arguments: Arguments) -> None:
    """Until stdin ends."""
    with suppress(Over):
        async with asyncio.TaskGroup() as group:
            await _serve(Bridge(arguments, group))


async def _serve(bridge: Bridge) -> None:
    await bridge.closed.wait()
    await bridge.wind_down()
    raise Over


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    if isinstance(arguments, str):
        print(f"rookery acp: {arguments}", file=sys.stderr)
        return 2
    if arguments.override:
        os.environ[OVERRIDE] = "1"  # each session is made in this environment
    with asyncio.Runner() as runner:
        runner.run(serve(arguments))
        # A thread that waits for a worker to start is not waited for: the worker comes up alone.
        os._exit(0)


USAGE = (
    'usage: rookery acp [--agent NAME | --cmd "…"] [--resume ID | --last] [--override-with-envs]'
)


def parse(argv: list[str]) -> Arguments | str:
    """The arguments, or what is wrong with them. By hand: an editor waits for this start."""
    found: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word, is_set, value = rest.pop(0).partition("=")
        if word == "--last" and not is_set:
            found["last"] = "yes"
        elif word == "--override-with-envs" and not is_set:
            found["override"] = "yes"
        elif word in ("--agent", "--cmd", "--resume"):
            if not is_set and not rest:
                return f"{word} needs a value\n{USAGE}"
            found[word[2:]] = value if is_set else rest.pop(0)
        else:
            return f"{word} is not known\n{USAGE}"
    if len(found.keys() & {"agent", "cmd"}) > 1 or len(found.keys() & {"resume", "last"}) > 1:
        return f"two of these exclude each other\n{USAGE}"
    return Arguments(
        agent=found.get("agent", ""),
        command=found.get("cmd", ""),
        resume=found.get("resume", ""),
        last="last" in found,
        override="override" in found,
    )
