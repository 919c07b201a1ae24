"""Sessions that were begun elsewhere: which there are, which are here already, and imports of them.

An import is a new session whose log is what the agent replays, with the agent's own session id: it
is read like any other, and its next prompt continues the agent's conversation. One that is here
already is not imported again.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple, Self

from rookery.agents import registry
from rookery.client.create import create_session
from rookery.client.imports.agent_sessions import AgentSessions, CannotImport
from rookery.client.trash import store
from rookery.core.agent import imported
from rookery.core.agent.imported import History, Listed
from rookery.core.agent.opening import KINDS, conversations
from rookery.core.json import Json
from rookery.home import paths
from rookery.home.config import Config
from rookery.log.errors import LogError
from rookery.log.reader import Reader

LOCK = "import.lock"


class Found(NamedTuple):
    """A session of an agent's."""

    agent: str
    session: Listed
    here: str
    """The id of the session here; "": it is not imported."""


class Known:
    """The conversations of an agent that sessions of a home have. A session is read once: to import
    thousands, one after the other, must not read all of them each time."""

    def __init__(self, home: str, agent: str) -> None:
        self._home, self._agent = home, agent
        self._read: set[str] = set()
        self._found: dict[str, str] = {}

    def here(self, conversation: str) -> str:
        """The session that has it; "": none."""
        for session, place in self._places():
            self._read.add(place)
            with suppress(LogError, OSError), Reader.open(place) as log:
                for each in conversations(log.of_kinds(*KINDS)):
                    if each.agent == self._agent:
                        self._found.setdefault(each.id, session)
        return self._found.get(conversation, "")

    def _places(self) -> list[tuple[str, str]]:
        """Sessions that were not read yet; those in the trash are here, too."""
        ids = sorted(paths.session_ids(self._home))
        found = [(name, paths.session_dir(self._home, name)) for name in ids]
        found += [(entry.session, entry.directory) for entry in store.entries(self._home)]
        return [each for each in found if each[1] not in self._read]


class Importer:
    """One after the other, by one process of the agent: to start it takes longer than to replay a
    session. `rest` ends it; it is started anew when it is needed."""

    def __init__(
        self,
        home: str,
        agent: registry.Agent,
        config: Config,
        environment: Mapping[str, str],
        known: Known | None = None,
    ) -> None:
        self._home, self._agent, self._config = home, agent, config
        self._environment = environment
        self._known = known or Known(home, agent.name)
        self._running: AgentSessions | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.rest()

    async def rest(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.__aexit__()

    async def _sessions(self) -> AgentSessions:
        if self._running is None:
            given = self._home, self._agent, self._config, self._environment
            self._running = await AgentSessions(*given).__aenter__()
        return self._running

    async def find(self, cwd: str = "") -> list[Found]:
        """Newest first, so far as the agent tells. Raises CannotImport."""
        try:
            listed = await (await self._sessions()).list(cwd)
        except CannotImport:
            await self.rest()
            raise
        listed.sort(key=lambda each: each.updated, reverse=True)
        return [Found(self._agent.name, each, self._known.here(each.id)) for each in listed]

    async def bring(self, wanted: Listed) -> Found:
        """Import one. Raises CannotImport."""
        if not os.path.isdir(wanted.cwd):
            place = wanted.cwd or "an unknown directory"
            raise CannotImport(f"{wanted.id} worked in {place}, which no longer exists.")
        agent = self._agent.name
        with _alone(self._home):
            if here := self._known.here(wanted.id):
                return Found(agent, wanted, here)
            history, ready = await self._load(wanted)
            if not history.updates:
                raise CannotImport(f"{agent} replayed nothing for {wanted.id}.")
            session = create_session(
                self._home,
                agent=agent,
                argv=[],
                cwd=wanted.cwd,
                environment=self._environment,
                history=imported.drafts(history, ready, wanted.title),
            )
            return Found(agent, wanted, session)

    async def _load(self, wanted: Listed) -> tuple[History, Json]:
        """Where a process that has loaded others fails, a fresh one is asked."""
        fresh = self._running is None
        try:
            sessions = await self._sessions()
            history, ready = await sessions.load(wanted, wanted.cwd)
            if history.cut:  # the rest of it may still come
                await self.rest()
            else:
                await sessions.leave(wanted)
        except CannotImport:
            await self.rest()
            if fresh:
                raise
            return await self._load(wanted)
        return history, ready


async def find(
    home: str,
    agent: registry.Agent,
    config: Config,
    environment: Mapping[str, str],
    cwd: str = "",
) -> list[Found]:
    """Newest first, so far as the agent tells. Raises CannotImport."""
    async with Importer(home, agent, config, environment) as importer:
        return await importer.find(cwd)


async def bring(
    home: str,
    agent: registry.Agent,
    config: Config,
    environment: Mapping[str, str],
    wanted: Listed,
) -> Found:
    """Import one. Raises CannotImport."""
    async with Importer(home, agent, config, environment) as importer:
        return await importer.bring(wanted)


@contextmanager
def _alone(home: str) -> Iterator[None]:
    """Two imports of one session would be two sessions. Raises CannotImport."""
    paths.ensure_home(home)
    lock = os.open(os.path.join(home, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotImport("Another import is running. Try again when it is done.") from None
        yield
    finally:
        os.close(lock)
