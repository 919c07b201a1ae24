"""An agent that is started to tell of its own sessions: listed, and replayed by `session/load`.

It works in the directory of the session, gets no tools of ours, and is ended with its whole tree.
What it sends is bounded in time and size.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

from rookery.agents import programs, registry
from rookery.client.environment import kept_of
from rookery.core.agent import imported, ingest
from rookery.core.agent.addresses import address_of
from rookery.core.agent.imported import History, Listed
from rookery.core.agent.opening import can
from rookery.core.json import Json, dumps, lenient
from rookery.home.config import Config
from rookery.processes import tree
from rookery.processes.child import Child, Fence
from rookery.wire.jsonrpc import ConnectionClosed, Peer, RpcError

PATIENCE = 120.0
"""Seconds for a start, and for each answer."""
LARGEST = 32 * 1024 * 1024
"""Characters of JSON that a history may have; the rest is left out."""
MOST_PAGES = 2000
"""Of a list."""
SETTLE = 0.5
"""Seconds of silence after which a replay is over that went on behind its answer."""
SETTLE_MOST = 10.0


class CannotImport(Exception):
    """Why not; the message says what to do."""


class AgentSessions:
    """`async with AgentSessions(…) as sessions`. Raises CannotImport."""

    def __init__(
        self, home: str, agent: registry.Agent, config: Config, environment: Mapping[str, str]
    ) -> None:
        self.name = agent.name
        self._argv, self._config, self._home = agent.argv, config, home
        self._replays_late = agent.name != registry.OWN
        self._environment = kept_of({"environment": dict(environment)})
        self._exited = asyncio.Event()
        self._child = Child(lambda _: self._exited.set(), Fence(home, confined=False))
        self._peer = Peer(
            on_request=lambda request: request.unknown(), on_notification=self._notified
        )
        self._capabilities: Json = {}
        self._info: Json = {}
        self._id = ""
        self._history = History([])
        self._size = 0
        self._came = 0.0
        self._cut = asyncio.Event()
        """More came than is taken."""

    async def __aenter__(self) -> Self:
        if address_of(self._argv):
            raise CannotImport(f"{self.name} runs on another machine: import its sessions there.")
        argv = programs.located(self._argv, self._environment, self._config.node_path)
        cwd = os.path.expanduser("~")
        try:
            stdin, stdout, _ = self._child.spawn(
                argv,
                cwd=cwd if os.path.isdir(cwd) else "/",
                environment=programs.beside(argv, self._environment),
                umask=0o077,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError) as error:
            raise CannotImport(f"{self.name} could not be started: {error}") from None
        self._peer.attach(stdout, stdin)
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.__aexit__)
            said = await self._ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            undo.pop_all()
        self._capabilities = lenient.mapping(said, "agentCapabilities")
        self._info = lenient.mapping(said, "agentInfo")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._peer.close()
        root = [row for row in tree.table() if row.pid == self._child.pid]
        left = await asyncio.to_thread(tree.end_tree, root)
        with suppress(ProcessLookupError):
            tree.end_group(self._child.pid, signal.SIGKILL)
        if not left:
            await self._exited.wait()

    # --- asking ----------------------------------------------------------------------------------

    async def list(self, cwd: str = "") -> list[Listed]:
        """Its sessions, those of a directory alone if one is named. Raises CannotImport."""
        if not can(self._capabilities, "list"):
            raise CannotImport(f"{self.name} cannot list its sessions, so none can be imported.")
        found, cursor = dict[str, Listed](), ""
        for _ in range(MOST_PAGES):
            params: Json = {"cwd": cwd} if cwd else {}
            said = await self._ask("session/list", params | ({"cursor": cursor} if cursor else {}))
            page = {each.id: each for each in imported.listed(said)}
            cursor = lenient.text(said, "nextCursor")
            news, found = page.keys() - found.keys(), found | page
            if not cursor or not news:  # it goes round in circles
                break
        return [each for each in found.values() if not cwd or _same(each.cwd, cwd)]

    async def load(self, session: Listed, cwd: str) -> tuple[History, Json]:
        """What it replays, and what it says to it. Raises CannotImport."""
        if self._capabilities.get("loadSession") is not True:
            raise CannotImport(f"{self.name} cannot load its sessions, so none can be imported.")
        self._id, self._history, self._size, self._came = session.id, History([]), 0, 0.0
        self._cut.clear()
        params = {"sessionId": session.id, "cwd": cwd, "mcpServers": []}
        async with asyncio.TaskGroup() as group:
            cut = group.create_task(self._cut.wait(), name="too much")
            load = group.create_task(self._answer("session/load", params), name="load")
            await asyncio.wait([cut, load], return_when=asyncio.FIRST_COMPLETED)
            answered = load.done()
            cut.cancel()
            load.cancel()
        said, problem = load.result() if answered else ({}, "")
        if problem:
            raise CannotImport(problem)
        if answered and self._replays_late:
            await self._settled()
        history, self._id = self._history, ""
        keys = ("configOptions", "modes", "models")
        offers: Json = {key: said[key] for key in keys if isinstance(said, dict) and key in said}
        ready: Json = {"name": self.name, "sessionId": session.id, "info": self._info}
        return history, ready | {"capabilities": self._capabilities} | offers

    async def leave(self, session: Listed) -> None:
        """It was loaded: others may have it. An agent that cannot do that is none of our worry."""
        if can(self._capabilities, "close"):
            await self._answer("session/close", {"sessionId": session.id})

    async def _settled(self) -> None:
        """Some replay behind the answer."""
        loop = asyncio.get_running_loop()
        until = loop.time() + SETTLE_MOST
        while loop.time() < min(until, self._came + SETTLE) or not self._came:
            if not self._came:
                self._came = loop.time()
            await asyncio.sleep(SETTLE / 5)

    async def _ask(self, method: str, params: Json) -> Any:
        said, problem = await self._answer(method, params)
        if problem:
            raise CannotImport(problem)
        return said

    async def _answer(self, method: str, params: Json) -> tuple[Any, str]:
        """The answer, or why there is none."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._peer.request(method, params), ""
        except TimeoutError:
            return None, f"{self.name} did not answer {method} within {PATIENCE:.0f} s."
        except ConnectionClosed:
            words = f"{self.name} ended before it answered {method}."
            return None, f"{words} To find out why: rookery doctor {self.name}"
        except RpcError as error:
            return None, f"{self.name} answered {method} with an error: {error}"

    def _notified(self, method: str, params: object) -> None:
        if not self._id or self._history.cut:
            return
        self._came = asyncio.get_running_loop().time()
        for update in ingest.from_notification(method, params, self._id):
            if update["sessionUpdate"] == "_raw":
                self._history = self._history._replace(strange=self._history.strange + 1)
                continue
            self._size += len(dumps(update))
            if self._size > LARGEST:
                self._history = self._history._replace(cut=True)
                self._cut.set()
                return
            self._history.updates.append(update)


def _same(place: str, wanted: str) -> bool:
    return bool(place) and os.path.realpath(place) == os.path.realpath(wanted)
