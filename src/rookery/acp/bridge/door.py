"""`rookery acp`: an ACP agent on stdio for editors, whose sessions are Rookery's.

`initialize` is answered before anything is loaded that it does not need; the rest comes with the
first request about a session. The editor may go at any moment: its sessions keep running.
"""

import asyncio
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from rookery.core import argv
from rookery.core.vendors.environment import OVERRIDE
from rookery.wire.jsonrpc import Incoming
from rookery.wire.params import Json
from rookery.wire.reception import Reception, serve

if TYPE_CHECKING:
    from rookery.acp.bridge.sessions import Sessions


class Arguments(NamedTuple):
    agent: str = ""
    command: str = ""
    resume: str = ""
    last: bool = False
    override: bool = False


class Bridge(Reception):
    name = "rookery"

    def __init__(self, arguments: Arguments, group: asyncio.TaskGroup) -> None:
        super().__init__(group)
        self._arguments = arguments
        self._sessions: Sessions | None = None

    async def carry_out(self, request: Incoming, params: Json) -> None:
        await self._known_sessions().serve(request, params)

    def error_data(self, message: str, data: object) -> object:
        from rookery.acp.bridge import endings

        return endings.error_data(self.client_info, message, data)

    def cancel(self, params: Json) -> None:
        # A task of its own: its first step comes after those of earlier requests.
        self.begin(self._cancel(params), "session/cancel")

    async def _cancel(self, params: Json) -> None:
        if self._sessions is not None:
            await self._sessions.cancel(params)

    def take_back(self, request: Incoming, params: Json) -> None:  # noqa: ARG002 (a method)
        if self._sessions is not None:
            asyncio.get_running_loop().call_soon(self._sessions.take_back, request)

    def _known_sessions(self) -> "Sessions":
        """Loaded with the first request about one: SQLite and the rest are not needed before."""
        if self._sessions is None:
            from rookery.acp.bridge.attached import Editor
            from rookery.acp.bridge.sessions import Choice, Sessions
            from rookery.home import paths

            place = (self.peer, self.client or {}, paths.home(), self.group)
            editor = Editor(*place, self.error_data)
            self._sessions = Sessions(editor, Choice(*self._arguments[:4]))
        return self._sessions


def main(words: list[str]) -> int:
    arguments = parse(words)
    if isinstance(arguments, str):
        print(f"rookery: {arguments}", file=sys.stderr)
        return 2
    if arguments.override:
        os.environ[OVERRIDE] = "1"  # each session is made in this environment
    with asyncio.Runner() as runner:
        runner.run(serve(lambda group: Bridge(arguments, group)))
        # A thread that waits for a worker to start is not waited for: the worker comes up alone.
        os._exit(0)


USAGE = (
    'Usage: rookery acp [--agent NAME | --cmd "…"] [--resume ID | --last] [--override-with-envs]'
)


def parse(words: list[str]) -> Arguments | str:
    """The arguments, or what is wrong with them."""
    try:
        found = argv.read(
            words,
            values=("agent", "cmd", "resume"),
            flags=("last", "override-with-envs"),
            either=[("agent", "cmd"), ("resume", "last")],
        )
    except argv.Misused as error:
        return f"{error}\n{USAGE}"
    return Arguments(
        agent=found.get("agent", ""),
        command=found.get("cmd", ""),
        resume=found.get("resume", ""),
        last="last" in found,
        override="override-with-envs" in found,
    )
