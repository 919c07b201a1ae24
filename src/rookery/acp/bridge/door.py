"""`rookery acp`: an ACP agent on stdio for editors, whose sessions are Rookery's.

`initialize` is answered before anything is loaded that it does not need; the rest comes with the
first request about a session. The editor may go at any moment: the sessions go on (row W1).
"""

import asyncio
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from rookery.core.environment import OVERRIDE
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

    def cancel(self, params: Json) -> None:
        # Its first step comes after that of every request that came before it, and before that of
        # every later one: who comes first has the session's ear.
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
            from rookery import paths
            from rookery.acp.bridge.attached import Editor
            from rookery.acp.bridge.sessions import Choice, Sessions

            editor = Editor(self.peer, self.client or {}, paths.home(), self.group)
            self._sessions = Sessions(editor, Choice(*self._arguments[:4]))
        return self._sessions


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    if isinstance(arguments, str):
        print(f"rookery acp: {arguments}", file=sys.stderr)
        return 2
    if arguments.override:
        os.environ[OVERRIDE] = "1"  # each session is made in this environment
    with asyncio.Runner() as runner:
        runner.run(serve(lambda group: Bridge(arguments, group)))
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
