"""The agent's side of ACP."""

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from rookery.agent.process.arguments import SETUP, Arguments
from rookery.agent.process.sdk_import import Sdk
from rookery.models.secrets import KNOWN
from rookery.wire import reception
from rookery.wire.jsonrpc import INTERNAL_ERROR, ConnectionClosed, Incoming, RpcError, TooLarge
from rookery.wire.params import Json, offers
from rookery.wire.reception import WIND_DOWN, Reception

if TYPE_CHECKING:
    from rookery.agent.session.sessions import Sessions

TERMINAL_SETUP = "rookery-setup-terminal"


class Server(Reception):
    name = "rookery-agent"
    capabilities = reception.CAPABILITIES | {
        "sessionCapabilities": reception.SESSIONS | {"fork": {}}
    }
    methods = reception.METHODS | {"authenticate", "session/fork", "_session/steering"}

    def __init__(self, arguments: Arguments, group: asyncio.TaskGroup) -> None:
        super().__init__(group)
        self.sdk = Sdk()
        self._arguments = arguments
        self._sessions: Sessions | None = None

    # --- requests --------------------------------------------------------------------------------

    def _initialize(self, request: Incoming, params: Json) -> None:
        super()._initialize(request, params)
        # Before the import begins, which holds the interpreter for long stretches.
        self.peer.flush()
        self.sdk.begin()

    def welcome(self) -> Json:
        about = "Run `rookery setup` in a terminal to choose a model and its key."
        methods: list[Json] = [{"id": SETUP, "name": "Set up a model", "description": about}]
        if offers(self.client or {}, "auth", "terminal"):
            more = {"type": "terminal", "args": ["--setup"]}
            methods.append({"id": TERMINAL_SETUP, "name": "Set up a model here", **more})
        meta = {"steering": {"supported": True}, "rookery": {"continue": True}}
        return {"authMethods": methods, "_meta": meta}

    async def carry_out(self, request: Incoming, params: Json) -> None:
        try:
            await self._known_sessions().serve(request, params)
        except RpcError as error:
            words, data = KNOWN.text(error.message), KNOWN.json(error.data)
            raise RpcError(error.code, words, data) from error
        except (ConnectionClosed, TooLarge):
            raise
        except Exception as error:
            # A bug in a library ends one request, not all.
            raise RpcError(INTERNAL_ERROR, KNOWN.text(_described(error))) from error

    def cancel(self, params: Json) -> None:
        if self._sessions is not None:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._sessions.cancel, params.get("sessionId"), params)

    def take_back(self, request: Incoming, params: Json) -> None:  # noqa: ARG002 (a method)
        if self._sessions is not None:
            self._sessions.cancel(params.get("sessionId"))

    def _known_sessions(self) -> "Sessions":
        """Loaded with the first request for one."""
        if self._sessions is None:
            from rookery.agent.session.sessions import Sessions

            self._sessions = Sessions(self.peer, self.client or {}, self.sdk, self._arguments)
        return self._sessions

    # --- the end ---------------------------------------------------------------------------------

    async def wind_down(self, seconds: float = WIND_DOWN) -> None:
        """Cancel and answer turns, and end shells, within the time."""
        if self._sessions is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._sessions.end()
        await super().wind_down(seconds / 2)


def _described(error: Exception) -> str:
    """A sentence for the client; the trace goes to stderr."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    where = os.path.basename(type(error).__module__)
    return f"The agent failed: {type(error).__name__} ({where}): {str(error)[:500]}"
