"""`rookery acp`: an ACP agent for editors, whose sessions are Rookery's; on stdio, or, in a process
that serves many (`connections`), over a network.

`initialize` is answered before anything is loaded that it does not need; the rest is loaded with
the first request about a session. The editor may disconnect at any moment: its sessions keep
running."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from rookery import agents
from rookery.acp import bridge
from rookery.core import argv
from rookery.core.vendors.environment import OVERRIDE
from rookery.home import paths
from rookery.wire import greeting
from rookery.wire.failures import RpcError
from rookery.wire.jsonrpc import Incoming
from rookery.wire.mcp import METHOD
from rookery.wire.params import Json, offers
from rookery.wire.reception import METHODS, Reception, serve

if TYPE_CHECKING:
    from rookery.acp.bridge.sessions import Sessions
    from rookery.wire.websocket.resuming import Carrier


ON_SHELF: Json = {"fork": {}, "archive": {}, "status": {}, "title": {}}
WORDS = ("fork", "archive", "unarchive", "status", "set_title")


class Bridge(Reception):
    name = "rookery"
    capabilities = greeting.CAPABILITIES | {
        "auth": {"status": {}},
        "sessionCapabilities": greeting.SESSIONS | ON_SHELF,
    }
    methods = METHODS | {"authenticate", "auth/status", *(f"session/{word}" for word in WORDS)}

    def __init__(
        self,
        given: dict[str, str],
        group: asyncio.TaskGroup,
        carrier: "Carrier | None" = None,
        home: str = "",
    ) -> None:
        """`given`: the command line, as `parse` reads it. `carrier`: what connects an editor on
        another machine; `home`: the home whose sessions that editor gets. Without them, stdio and
        the home of this process."""
        super().__init__(group, carrier)
        self._given = given
        self._home, self._is_remote = home, carrier is not None
        self._sessions: Sessions | None = None

    def welcome(self) -> Json:
        about = "Use the agents and logins of this machine."
        listed: list[Json] = [{"id": greeting.LOGIN, "name": "Rookery", "description": about}]
        client = self.client or {}
        if offers(client, "auth", "terminal") and not self._is_remote:
            more = {"type": "terminal", "args": ["--login"]}
            listed.append({"id": greeting.TERMINAL_LOGIN, "name": "Log in to the agent", **more})
        wanted = offers(client, "_meta", "rookery", "turns")
        meta = {"_meta": {"rookery": {"turns": True}}} if wanted else {}
        return {"authMethods": listed} | meta

    async def carry_out(self, request: Incoming, params: Json) -> None:
        await self._known_sessions().serve(request, params)

    def error_data(self, message: str, data: object) -> object:
        return bridge.prompts.error_data(self.client_info, message, data)

    def cancel(self, params: Json) -> None:
        # A task of its own: its first step comes after those of earlier requests.
        self.begin(self._cancel(params), "session/cancel")

    async def _cancel(self, params: Json) -> None:
        if self._sessions is not None:
            await self._sessions.cancel(params)

    def _on_notification(self, method: str, params: Any) -> None:
        if method != METHOD:
            super()._on_notification(method, params)
        elif self._sessions is not None and isinstance(params, dict):
            self._sessions.heard_of_servers(params)

    def take_back(self, request: Incoming, params: Json) -> None:  # noqa: ARG002 (a method)
        if self._sessions is not None:
            asyncio.get_running_loop().call_soon(self._sessions.take_back, request)

    async def let_go(self) -> None:
        if self._is_remote and self._sessions is not None:
            await self._sessions.detach_all()

    def _known_sessions(self) -> "Sessions":
        """The sessions, loaded with the first request about one: SQLite and the rest are not needed
        before."""
        if self._sessions is None:
            place = (self.peer, self.client or {}, self._home or paths.home(), self.group)
            editor = bridge.attached.Editor(*place, self.error_data, is_remote=self._is_remote)
            self._sessions = bridge.sessions.Sessions(editor, self._given)
        return self._sessions


def main(args: list[str]) -> int:
    try:
        rest, variables = _variables(args)
        given = parse(rest)
        _check_url(given, variables)
        _check_place(given)
    except argv.Misused as error:
        print(f"rookery: {error}\n{USAGE}", file=sys.stderr)
        return 2
    if "login" in given:
        return _log_in(given)
    if "url" in given:
        return bridge.relay.main(given, variables)
    if "override-with-envs" in given:
        os.environ[OVERRIDE] = "1"  # each session is made in this environment
    with asyncio.Runner() as runner:
        runner.run(serve(lambda group: Bridge(given, group)))
        # A thread that waits for a worker to start is not waited for: the worker comes up alone.
        os._exit(0)


def _log_in(given: dict[str, str]) -> int:
    try:
        home = paths.home()
        return bridge.login.run(
            given,
            bridge.sessions.chosen(home, bridge.sessions.settings_of(home), given, os.getcwd()),
        )
    except RpcError as error:
        print(f"rookery: {error.message}", file=sys.stderr)
        return 1


USAGE = (
    'Usage: rookery acp [--agent NAME | --cmd "…" | --remote URL | --cloud]\n'
    "                   [--resume ID | --last] [--override-with-envs]\n"
    f"                   {argv.APPROVING_USAGE}\n"
    "       rookery acp [--agent NAME] --login [--method ID]\n"
    "       rookery acp --url wss://HOST/acp [--token-file FILE] [--header-env NAME=VARIABLE]\n"
    "                   [--ca FILE | --fingerprint sha256:…]"
)
OF_URL = ("token-file", "ca", "fingerprint")
OF_SESSIONS = (
    *("agent", "cmd", "remote", "cloud", "resume", "last", "override-with-envs"),
    *argv.APPROVING,
)


def parse(args: list[str]) -> dict[str, str]:
    """Parse the command line. Raises argv.Misused."""
    return argv.read(
        args,
        values=("agent", "cmd", "remote", "resume", "url", "method", *OF_URL),
        flags=("cloud", "last", "login", "override-with-envs", *argv.APPROVING),
        either=[
            *(("agent", "cmd"), ("resume", "last"), ("ca", "fingerprint")),
            *((one, other) for one in ("remote", "cloud") for other in ("agent", "cmd")),
            *(("url", each) for each in OF_SESSIONS),
            *argv.EITHER_APPROVING,
        ],
    )


def _check_url(given: dict[str, str], variables: list[str]) -> None:
    if "url" not in given and (variables or any(key in given for key in OF_URL)):
        raise argv.Misused("--token-file, --header-env, --ca and --fingerprint need --url")


def _check_place(given: dict[str, str]) -> None:
    if "remote" in given and (fault := agents.elsewhere.fault_of(given["remote"])):
        raise argv.Misused(fault)


def _variables(args: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments without `--header-env`, which may be repeated, and its values."""
    rest, variables, left = list[str](), list[str](), list(args)
    while left:
        word, is_set, value = left.pop(0).partition("=")
        if word != "--header-env":
            rest.append(word + is_set + value)
        elif is_set or left:
            variables.append(value if is_set else left.pop(0))
        else:
            raise argv.Misused("--header-env needs a value")
    return rest, variables
