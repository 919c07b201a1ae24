"""The agent's side of ACP: its methods, who is on the other side, and which sessions are open."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import rookery
from rookery.agent.arguments import SETUP, Arguments
from rookery.agent.sdk import Sdk
from rookery.agent.settings.secrets import KNOWN
from rookery.wire.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    ConnectionClosed,
    Incoming,
    Peer,
    RpcError,
    TooLarge,
)
from rookery.wire.params import invalid, offers, version

if TYPE_CHECKING:
    from rookery.agent.sessions import Sessions

type Json = dict[str, Any]

WIND_DOWN = 1.0
"""Seconds after the end of stdin for turns to be ended and for answers to be written."""
TERMINAL_SETUP = "rookery-setup-terminal"
CAPABILITIES: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        "list": {},
        "delete": {},
        "resume": {},
        "close": {},
        "fork": {},
        "additionalDirectories": {},
    },
}
METHODS = frozenset(
    {
        "authenticate",
        "_session/steering",
        *(f"session/{word}" for word in ("new", "load", "resume", "list", "fork", "close")),
        *(f"session/{word}" for word in ("delete", "prompt", "set_mode", "set_config_option")),
    }
)


class Server:
    def __init__(self, arguments: Arguments, group: asyncio.TaskGroup) -> None:
        self.closed = asyncio.Event()
        self.sdk = Sdk()
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
            request.cancelled = lambda: self._take_back(request, params, task)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        task = self._group.create_task(work, name=name)
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return task

    async def _serve(self, request: Incoming, params: Json) -> None:
        try:
            await (await self._known_sessions()).serve(request, params)
        except RpcError as error:
            request.fail(error.code, KNOWN.text(error.message), KNOWN.json(error.data))
        except ConnectionClosed:
            return
        except TooLarge as error:
            request.fail(INTERNAL_ERROR, str(error))
        except asyncio.CancelledError:
            request.fail(REQUEST_CANCELLED, "Request cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - a foreign library's bug ends one request, not all
            request.fail(INTERNAL_ERROR, KNOWN.text(_told(error)))

    def _initialize(self, request: Incoming, params: Json) -> None:
        version(params)
        capabilities = params.get("clientCapabilities")
        self._client = capabilities if isinstance(capabilities, dict) else {}
        info = {"name": "rookery-agent", "title": "Rookery", "version": rookery.__version__}
        request.reply(
            {
                "protocolVersion": 1,
                "agentCapabilities": CAPABILITIES,
                "agentInfo": info,
                "authMethods": self._auth_methods(),
                "_meta": {"steering": {"supported": True}},
            }
        )
        # Written before the import begins: it holds the interpreter for long stretches.
        self.peer.flush()
        self.sdk.begin()

    def _auth_methods(self) -> list[Json]:
        about = "Choose a model and its key: run `rookery setup` in a terminal."
        methods: list[Json] = [{"id": SETUP, "name": "Set up a model", "description": about}]
        if offers(self._client or {}, "auth", "terminal"):
            more = {"type": "terminal", "args": ["--setup"]}
            methods.append({"id": TERMINAL_SETUP, "name": "Set up a model here", **more})
        return methods

    def _on_notification(self, method: str, params: Any) -> None:
        if method == "session/cancel" and isinstance(params, dict) and self._sessions is not None:
            # After the first step of every request that came before it.
            sessions = self._sessions
            asyncio.get_running_loop().call_soon(sessions.cancel, params.get("sessionId"))

    def _take_back(self, request: Incoming, params: Json, task: "asyncio.Task[None]") -> None:
        """A prompt ends with its turn; whatever else is asked for is not waited for any more."""
        if request.method == "session/prompt" and self._sessions is not None:
            self._sessions.cancel(params.get("sessionId"))
        else:
            task.cancel()

    async def _known_sessions(self) -> "Sessions":
        """Loaded with the first request about one."""
        if self._sessions is None:
            from rookery.agent.sessions import Sessions

            self._sessions = Sessions(self.peer, self._client or {}, self.sdk, self._arguments)
        return self._sessions

    # --- the end ---------------------------------------------------------------------------------

    async def wind_down(self) -> None:
        """Stdin has ended: turns are cancelled and answered, shells ended, or the time is up."""
        if self._sessions is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(WIND_DOWN):
                    await self._sessions.end()
        if self._serving:
            await asyncio.wait(self._serving, timeout=WIND_DOWN / 4)
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(WIND_DOWN / 4):
                await self.peer.drain(1)
        self.peer.close()


def _told(error: Exception) -> str:
    """For the client a sentence; for whoever looks after us the trace."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    where = os.path.basename(type(error).__module__)
    return f"The agent failed: {type(error).__name__} ({where}): {str(error)[:500]}"
