"""An agent that is started, or connected to, for a login: it is sent `authenticate` or `logout`,
reports its status, and is ended with its whole process tree."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

import rookery
from rookery.agents import programs, registry
from rookery.client.config.agent_address import link_to, target_of
from rookery.client.environment import kept_of
from rookery.client.login import status
from rookery.client.login.status import Known
from rookery.core.agent.addresses import address_of
from rookery.core.asks import links
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean_line
from rookery.core.refusals import Fixed
from rookery.core.settings.agent_tables import Extras
from rookery.core.vendors import logins
from rookery.core.vendors.logins import Method
from rookery.home.config import Config
from rookery.processes import tree
from rookery.processes.child import Child, Fence
from rookery.wire.jsonrpc import ConnectionClosed, Incoming, Peer, RpcError
from rookery.wire.pipes import PipeReader
from rookery.wire.websocket.client import ConnectError

START = 120.0
"""Seconds for `initialize`: the first start after an install takes its time."""
WITHIN = 600.0
"""Seconds for a login: the user may have to open a page and to find a password."""
PUSHED = 6.0
"""Seconds for an agent to tell its status by itself: Claude's asks another program."""
CHANGED = 2.0
"""The same after a login, when it tells of a change alone."""
TAIL = 20
"""Lines of stderr that are kept."""

CAPABILITIES: Json = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "elicitation": {"url": {}},
    "auth": {"terminal": True},
    "_meta": {"terminal-auth": True},
}


class LoginFailed(Fixed):
    """The login failed; the message is a sentence that says why and what to do."""

    reason = "login_failed"


def environment_of(config: Config, name: str) -> dict[str, str]:
    """Return the environment of the agent's process: this one's, and `[agents.NAME] env`."""
    return kept_of({"environment": {**os.environ, **config.extras.get(name, Extras()).env}})


class LoginAgent:
    """A running agent to log in to: `async with LoginAgent(…) as agent`. Raises LoginFailed."""

    def __init__(
        self,
        home: str,
        agent: registry.Agent,
        config: Config,
        on_link: Callable[[list[str]], None] = lambda _lines: None,
    ) -> None:
        """Prepare a login; nothing is started yet.

        `on_link`: called for each page that has to be opened, with the lines to show: the agent's
        message, the address, what to look out for."""
        self.home, self.name, self.argv = home, agent.name, agent.argv
        self._config, self._on_link = config, on_link
        self._exited, self._pushed = asyncio.Event(), asyncio.Event()
        self._child: Child | None = None
        self._stderr: PipeReader | None = None
        self._lines = deque[str](maxlen=TAIL)
        self._known = status.read(home, agent.name, agent.argv)
        self._peer = Peer(on_request=self._requested, on_notification=self._notified)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.__aexit__)
            if url := address_of(self.argv):
                await self._connect(url)
            else:
                self._spawn()
            client = {"name": "rookery", "title": "Rookery", "version": rookery.__version__}
            params = {"protocolVersion": 1, "clientCapabilities": CAPABILITIES}
            response = await self._ask("initialize", params | {"clientInfo": client}, START)
            undo.pop_all()
        result = response if isinstance(response, dict) else {}
        self._known = self._known._replace(result=status.about(result))
        return self

    def _spawn(self) -> None:
        child = Child(lambda _: self._exited.set(), Fence(self.home, confined=False))
        environment = environment_of(self._config, self.name)
        argv = programs.located(self.argv, environment, self._config.node_path)
        cwd = os.path.expanduser("~")
        try:
            stdin, stdout, stderr = child.spawn(
                argv,
                cwd=cwd if os.path.isdir(cwd) else "/",
                environment=programs.beside(argv, environment),
                umask=0o077,
            )
        except (OSError, ValueError) as error:
            raise LoginFailed(f"{self.name} could not be started: {error}") from None
        self._child = child
        self._stderr = PipeReader(stderr, self._wrote, lambda: None)
        self._peer.attach(stdout, stdin)

    async def _connect(self, url: str) -> None:
        remote = self._config.extras.get(self.name, Extras()).remote
        link = link_to(url, lambda: target_of(url, remote, os.environ))
        self._peer.carried_by(link)
        try:
            await link.open()
        except ConnectError as error:
            raise LoginFailed(f"{self.name}: {error}") from None

    async def __aexit__(self, *_: object) -> None:
        self._peer.close()
        if self._child is None:
            return
        root = [row for row in tree.table() if row.pid == self._child.pid]
        left = await asyncio.shield(asyncio.to_thread(tree.end_tree, root))
        with suppress(ProcessLookupError):
            tree.end_group(self._child.pid, signal.SIGKILL)
        if self._stderr is not None:
            self._stderr.close()
        if not left:
            await self._exited.wait()

    # --- what it is asked ------------------------------------------------------------------------

    @property
    def methods(self) -> list[Method]:
        return self._known.methods()

    async def authenticate(self, method: Method, key: str = "") -> None:
        """Authenticate, and return once that is done. `key`: an API key. Raises LoginFailed."""
        params: Json = {"methodId": method.id}
        if key:
            params["_meta"] = {"api-key": {"apiKey": key}}
        self._pushed.clear()
        await self._ask("authenticate", params, WITHIN, key)
        self._known = self._known._replace(by=method.id, state=logins.IN)
        await self.learn(CHANGED)

    async def log_out(self) -> None:
        """Log out of the agent. Raises LoginFailed."""
        if not logins.has_logout(self._known.capabilities):
            raise LoginFailed(
                f"{self.name} cannot be logged out of from here. Use its own command, or unset its "
                "key."
            )
        self._pushed.clear()
        await self._ask("logout", {}, START)
        self._known = self._known._replace(by="", state=logins.OUT, account="")
        await self.learn(CHANGED)

    async def learn(self, within: float = PUSHED) -> Known:
        """Return the login status, as the agent reports it if it can, and remember it for the
        lists. `within`: seconds to wait for an agent that reports it unasked."""
        if logins.has_status(self._known.capabilities):
            with suppress(LoginFailed):
                reported = logins.status_of(await self._ask(logins.STATUS, {}, START))
                self._known = status.after(self._known, reported)
        elif logins.pushes_status(self._known.capabilities):
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._pushed.wait()
        status.note(self.home, self.name, self._known)
        return self._known

    async def _ask(self, method: str, params: Json, within: float, secret: str = "") -> Any:
        try:
            async with asyncio.timeout(within):
                return await self._peer.request(method, params)
        except TimeoutError:
            raise LoginFailed(f"{self.name} did not answer {method} in time.") from None
        except ConnectionClosed:
            last = next((line for line in reversed(self._lines) if line), "")
            why = f" It said: {last}" if last else ""
            more = f"{why} To find out why: rookery doctor {self.name}"
            raise LoginFailed(f"{self.name} ended before it answered {method}.{more}") from None
        except RpcError as error:
            message = str(error).replace(secret, "…") if secret else str(error)
            raise LoginFailed(f"{self.name} says: {clean_line(message)}") from None

    # --- what it says meanwhile ------------------------------------------------------------------

    def _notified(self, method: str, params: object) -> None:
        if (reported := logins.from_notification(method, params)) is not None:
            self._known = status.after(self._known, reported)
            self._pushed.set()

    def _requested(self, request: Incoming) -> None:
        """Accept only a link: the agent has no business asking for anything else before there is a
        session."""
        params = request.params if isinstance(request.params, dict) else {}
        if request.method != "elicitation/create" or lenient.text(params, "mode") != "url":
            request.unknown()
            return
        try:
            link = links.read(params.get("url"))
        except links.BadLink as error:
            self._on_link([links.refused(self.name, params, str(error))])
            request.reply({"action": "decline"})
            return
        message = lenient.text(params, "message")
        self._on_link([*([message] if message else []), link.url, *link.warnings])
        request.reply({"action": "accept"})

    def _wrote(self, data: bytes) -> None:
        self._lines.extend(line.strip() for line in data.decode("utf-8", "replace").splitlines())
