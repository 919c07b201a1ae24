"""Rookery's own agent as a process that speaks ACP on stdio until stdin ends: its side of ACP, and
a stderr that never blocks and shows no secrets."""

import asyncio
import os
import select
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import rookery
from rookery.agent.process import greeting
from rookery.agent.process.arguments import Arguments, parse
from rookery.agent.process.client import Client
from rookery.agent.process.sdk_import import Sdk
from rookery.agent.sdk_patches import environment
from rookery.home import paths
from rookery.models.secrets import KNOWN
from rookery.processes import tree
from rookery.wire import mcp, reception
from rookery.wire.jsonrpc import INTERNAL_ERROR, ConnectionClosed, Incoming, RpcError, TooLarge
from rookery.wire.params import Json
from rookery.wire.pipes import private_copy

if TYPE_CHECKING:
    from rookery.agent.session.session import Session
    from rookery.agent.session.sessions import Sessions


SERVER_KEYS = "agent_servers.json"
"""Where `elsewhere.keys` are: most homes have none."""


class Server(reception.Reception):
    name = greeting.NAME
    capabilities = greeting.CAPABILITIES
    methods = reception.METHODS | {
        *("authenticate", "auth/status", "session/fork", "_session/steering"),
    }

    def __init__(self, arguments: Arguments, group: asyncio.TaskGroup, begun: "Begun") -> None:
        super().__init__(group, read=begun.read, greeted=begun.greeted)
        self.sdk = Sdk()
        self._arguments = arguments
        self._mcp = mcp.Caller(self.peer, {"name": self.name, "version": rookery.__version__})
        self._sessions: Sessions | None = None

    # --- requests --------------------------------------------------------------------------------

    def _initialize(self, request: Incoming, params: Json) -> None:
        super()._initialize(request, params)
        # Before the import begins, which holds the interpreter for long stretches.
        self.peer.flush()
        self.sdk.begin()

    def welcome(self) -> Json:
        return greeting.welcome(self.client or {})

    async def carry_out(self, request: Incoming, params: Json) -> None:
        try:
            await self._known_sessions().serve(request, params)
        except RpcError as error:
            message, data = KNOWN.text(error.message), KNOWN.json(error.data)
            raise RpcError(error.code, message, data) from error
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

    def _on_notification(self, method: str, params: Any) -> None:
        if method == mcp.METHOD:
            self._mcp.heard(params)
        else:
            super()._on_notification(method, params)

    def _known_sessions(self) -> "Sessions":
        """Return the sessions, whose module is loaded with the first request for one."""
        if self._sessions is None:
            from rookery.agent.session.sessions import Sessions

            client = Client(self.peer, self.client or {}, self._mcp)
            self._sessions = Sessions(client, self.sdk, self._arguments, away=_away)
            _learn_server_keys()
        return self._sessions

    # --- the end ---------------------------------------------------------------------------------

    async def wind_down(self, seconds: float = reception.WIND_DOWN) -> None:
        """Cancel and answer turns, and end shells, within this time."""
        if self._sessions is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._sessions.end()
        await super().wind_down(seconds / 2)


def _learn_server_keys() -> None:
    home = paths.home()
    if os.path.exists(os.path.join(home, SERVER_KEYS)):
        from rookery.agent.elsewhere import keys

        keys.learn(home)


def _away() -> "type[Session]":
    """Import the class of remote sessions only when it is used."""
    from rookery.agent.elsewhere.session import RemoteSession

    return RemoteSession


def _described(error: Exception) -> str:
    """Return a sentence for the client; the trace goes to stderr."""
    traceback.print_exception(error, file=sys.stderr)
    where = os.path.basename(type(error).__module__)
    return f"The agent failed: {type(error).__name__} ({where}): {str(error)[:500]}"


PIECE = 4096
"""Bytes that a ready pipe takes without blocking."""
MAX_HELD_BYTES = 64 * 1024
"""Bytes of a line that are held back until its end."""


def shield() -> None:
    """Send our stderr through a thread that drops what the real one does not take."""
    try:
        real = private_copy(2, os.O_WRONLY)
    except OSError:  # there is none
        return
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, real), daemon=True, name="stderr").start()


def _pass_on(reading: int, real: int) -> None:
    poll = select.poll()
    poll.register(real, select.POLLOUT)
    begun = b""
    while data := os.read(reading, PIECE):
        # By whole lines: a secret may span two pieces.
        whole, newline, begun = (begun + data).rpartition(b"\n")
        if len(begun) > MAX_HELD_BYTES:
            whole, begun = whole + newline + begun, b""
        text = KNOWN.text((whole + newline).decode("utf-8", "surrogateescape"))
        _write(poll, real, text.encode("utf-8", "surrogateescape"))
    _write(poll, real, KNOWN.text(begun.decode("utf-8", "replace")).encode())
    os.close(reading)
    os.close(real)


def _write(poll: select.poll, real: int, data: bytes) -> None:
    """Write as much as the descriptor takes now."""
    for start in range(0, len(data), PIECE):
        if any(state & select.POLLOUT for _, state in poll.poll(0)):
            with suppress(OSError):
                os.write(real, data[start : start + PIECE])


class Begun(NamedTuple):
    """The input that another process has already read from stdin, and whether it answered."""

    read: bytes = b""
    greeted: bool = False
    """`initialize` is answered."""


def main(
    argv: list[str],
    end: Callable[[int], NoReturn] = os._exit,
    begun: Begun = Begun(),  # noqa: B008 (immutable)
) -> NoReturn:
    """Speak over descriptors 0 and 1, then `end` the process without waiting for tools' threads."""
    arguments = parse(argv)
    if isinstance(arguments, str):
        print(f"rookery: {arguments}", file=sys.stderr, flush=True)
        end(2)
    environment.keep(override=arguments.override)
    with asyncio.Runner() as runner:
        runner.run(serve(arguments, begun))
        tree.end_below(os.getpid())  # shells, servers and what they started
        end(0)


async def serve(arguments: Arguments, begun: Begun = Begun()) -> None:  # noqa: B008 (immutable)
    await reception.serve(lambda group: _opened(arguments, group, begun))


def _opened(arguments: Arguments, group: asyncio.TaskGroup, begun: Begun) -> Server:
    server = Server(arguments, group, begun)
    shield()
    loop = asyncio.get_running_loop()
    # More than asyncio's few: a tool that hangs holds its thread.
    loop.set_default_executor(ThreadPoolExecutor(64))
    return server
