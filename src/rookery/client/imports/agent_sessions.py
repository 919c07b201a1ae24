"""Starts an agent to have it list its own sessions.

It works in the user's home directory, gets no tools of ours, and is ended with its whole process
tree. What it sends is bounded in time and number."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

from rookery.agents import programs, registry
from rookery.client.environment import kept_of
from rookery.core.agent import imported
from rookery.core.agent.addresses import address_of
from rookery.core.agent.imported import Listed
from rookery.core.agent.opening import can
from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.home.config import Config
from rookery.processes import tree
from rookery.processes.child import Child, Fence
from rookery.wire.jsonrpc import ConnectionClosed, Peer, RpcError

TIMEOUT = 120.0
"""Seconds for a start, and for each answer."""
MAX_SESSIONS = 100_000
MAX_PAGES = 5000
"""Most pages of a list that are read: an agent may invent them for ever."""


class CannotImport(Fixed):
    """Sessions cannot be imported; the message says why and what to do."""

    reason = "cannot_import"


class AgentSessions:
    """An agent process that lists its sessions: `async with AgentSessions(…) as sessions`. Raises
    CannotImport."""

    def __init__(
        self, home: str, agent: registry.Agent, config: Config, environment: Mapping[str, str]
    ) -> None:
        self.name = agent.name
        self._argv, self._config = agent.argv, config
        self._environment = kept_of({"environment": dict(environment)})
        self._exited = asyncio.Event()
        self._child = Child(lambda _: self._exited.set(), Fence(home, confined=False))
        self._peer = Peer(on_request=lambda request: request.unknown())
        self._capabilities: Json = {}

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
            response = await self._ask(
                "initialize", {"protocolVersion": 1, "clientCapabilities": {}}
            )
            undo.pop_all()
        self._capabilities = lenient.mapping(response, "agentCapabilities")
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

    async def pages(self, cwd: str = "") -> AsyncGenerator[list[Listed]]:
        """Yield the agent's sessions page by page, each session once, in its order; only those of a
        directory if one is named. The next page is requested before one is yielded. Raises
        CannotImport."""
        if not can(self._capabilities, "list"):
            raise CannotImport(f"{self.name} cannot list its sessions, so none can be imported.")
        if self._capabilities.get("loadSession") is not True:
            raise CannotImport(f"{self.name} cannot load its sessions, so none can be imported.")
        params: Json = {"cwd": cwd} if cwd else {}
        cursor, more = "", False
        ids, cursors = set[str](), set[str]()
        asked = asyncio.create_task(self._ask("session/list", params), name="a page")
        try:
            for _ in range(MAX_PAGES):
                result = await asked
                page = {each.id: each for each in imported.listed(result) if each.id not in ids}
                ids |= page.keys()
                cursor = lenient.text(result, "nextCursor")
                # One that brings nothing new, or is named again, goes round in circles.
                more = bool(cursor and page) and cursor not in cursors and len(ids) < MAX_SESSIONS
                if more:
                    cursors.add(cursor)
                    again = self._ask("session/list", {**params, "cursor": cursor})
                    asked = asyncio.create_task(again, name="a page")
                yield [each for each in page.values() if not cwd or _same(each.cwd, cwd)]
                if not more:
                    break
            if more or (cursor and len(ids) >= MAX_SESSIONS):
                raise CannotImport(f"{self.name} lists without an end: stopped at {len(ids)}.")
        finally:
            asked.cancel()
            with suppress(asyncio.CancelledError, CannotImport):
                await asked

    async def _ask(self, method: str, params: Json) -> Any:
        try:
            async with asyncio.timeout(TIMEOUT):
                return await self._peer.request(method, params)
        except TimeoutError:
            message = f"{self.name} did not answer {method} within {TIMEOUT:.0f} s."
        except ConnectionClosed:
            message = f"{self.name} ended before it answered {method}."
            message += f" To find out why: rookery doctor {self.name}"
        except RpcError as error:
            message = f"{self.name} answered {method} with an error: {error}"
        raise CannotImport(message)


def _same(place: str, wanted: str) -> bool:
    return bool(place) and os.path.realpath(place) == os.path.realpath(wanted)
