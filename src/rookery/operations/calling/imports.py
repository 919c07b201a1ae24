"""The sessions of an agent that a Rookery can import, wherever it is: this machine's directly,
another's through its daemon."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import override
from urllib.parse import quote

from rookery.agents import registry
from rookery.client.config import in_force
from rookery.client.daemon.remote import Door
from rookery.client.guard import require_person
from rookery.client.imports.importing import HERE, NEW, Found, Importer, gathered
from rookery.core.agent.imported import Listed
from rookery.core.json import Json
from rookery.operations.calling.interface import Rookery
from rookery.operations.calling.local import LocalRookery
from rookery.operations.calling.remote import RemoteRookery

OURS = (registry.OWN, registry.DEMO)
"""Their sessions are here, or are none."""

BATCH = 200
"""Sessions that one request to a daemon imports."""


class Source(ABC):
    """An agent's own sessions. All methods raise CannotImport, LogError, RemoteError."""

    def __init__(self, agent: str) -> None:
        self.agent = agent

    @abstractmethod
    def pages(self, cwd: str) -> AsyncGenerator[list[Found]]:
        """Those of a directory, as the agent lists them; "": all."""

    async def find(self, cwd: str) -> list[Found]:
        """All at once, newest first, so far as the agent tells."""
        return await gathered(self.pages(cwd))

    @abstractmethod
    async def bring(self, wanted: Sequence[Listed], *, removed: bool = False) -> list[Found]:
        """Import them; what became of each. `removed`: also those that the user removed."""

    @abstractmethod
    async def rest(self) -> None:
        """End what was started for it; more can be asked all the same."""


def source(rookery: Rookery, agent: str, cwd: str) -> Source:
    """Raises UnknownAgent, NotInstalled, FromAgent, ConfigError."""
    if isinstance(rookery, RemoteRookery):
        return _There(rookery.door, agent)
    assert isinstance(rookery, LocalRookery)
    require_person(rookery.home, "import sessions")
    settings = in_force.load(rookery.home)
    known = registry.resolve(agent, settings.agents)
    registry.check_installed(known, os.environ, cwd or "/", settings.node_path)
    return _Here(rookery.home, known)


def agents(rookery: Rookery) -> Iterable[str]:
    """The installed ones. Raises FromAgent, ConfigError, RemoteError."""
    if isinstance(rookery, LocalRookery):
        require_person(rookery.home, "import sessions")
    known = rookery.call("agents")["agents"]
    return [row["name"] for row in known if row["installed"] and row["name"] not in OURS]


class _Here(Source):
    def __init__(self, home: str, agent: registry.Agent) -> None:
        super().__init__(agent.name)
        self._importer = Importer(home, agent, in_force.load(home), os.environ)

    @override
    def pages(self, cwd: str) -> AsyncGenerator[list[Found]]:
        return self._importer.pages(cwd)

    @override
    async def bring(self, wanted: Sequence[Listed], *, removed: bool = False) -> list[Found]:
        return await asyncio.to_thread(self._importer.bring, wanted, removed=removed)

    @override
    async def rest(self) -> None:
        await self._importer.rest()


class _There(Source):
    def __init__(self, door: Door, agent: str) -> None:
        super().__init__(agent)
        self._door = door
        self._path = f"/api/agents/{quote(agent, safe='')}/sessions"

    @override
    async def pages(self, cwd: str) -> AsyncGenerator[list[Found]]:
        answer = await self._ask(f"{self._path}/list", {"cwd": cwd})
        rows = [self._found(row) for row in answer["sessions"]]
        for at in range(0, len(rows), BATCH):
            yield rows[at : at + BATCH]

    @override
    async def bring(self, wanted: Sequence[Listed], *, removed: bool = False) -> list[Found]:
        rows = [each._asdict() | {"title": each.title[:500]} for each in wanted]
        body: Json = {"sessions": rows, "removed": removed}
        answer = await self._ask(f"{self._path}/import", body)
        return [self._found(row) for row in answer["sessions"]]

    @override
    async def rest(self) -> None: ...  # its daemon does

    async def _ask(self, path: str, body: Json) -> Json:
        answer: Json = await asyncio.to_thread(self._door.json, "POST", path, body)
        return answer

    def _found(self, row: Json) -> Found:
        session = Listed(*(str(row[key]) for key in Listed._fields))
        here = str(row["here"])
        # A daemon of an earlier build tells no state.
        return Found(self.agent, session, here, str(row.get("state", HERE if here else NEW)))
