"""Importing sessions that were started elsewhere: which there are, which have been imported
already, and the import itself.

An import is a new session with the agent's own session id: its history is loaded when it is opened,
and its next prompt continues the agent's conversation. A session that is here already is not
imported again, nor is one that was removed, unless the user asks for it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import NamedTuple, Self

from rookery.agents import registry
from rookery.client.imports.agent_sessions import AgentSessions, CannotImport
from rookery.client.imports.known import Known
from rookery.client.imports.making import make
from rookery.core.agent.imported import Listed
from rookery.home import paths
from rookery.home.config import Config

LOCK = "import.lock"

NEW, HERE, TRASHED, REMOVED, HOMELESS = "new", "here", "trashed", "removed", "no_directory"


class Candidate(NamedTuple):
    """A session that an agent lists, and whether it can be imported."""

    agent: str
    session: Listed
    here: str = ""
    """The id of the session here, or in the trash; "": there is none."""
    state: str = NEW

    def why_not(self) -> str:
        """Say in a sentence why it is not imported; "" if it can be."""
        place = self.session.cwd or "an unknown directory"
        return {
            HERE: f"It is already imported: rookery open {self.here}",
            TRASHED: f"It is in the trash. To bring it back: rookery restore {self.here}",
            REMOVED: "You removed it. To import it again: --removed",
            HOMELESS: f"It worked in {place}, which no longer exists.",
        }.get(self.state, "")


class Importer:
    """Lists an agent's sessions and imports them. The agent's process is started when its list is
    needed, and ended by `rest`."""

    def __init__(
        self, home: str, agent: registry.Agent, config: Config, environment: Mapping[str, str]
    ) -> None:
        self._home, self._agent, self._config = home, agent, config
        self._environment = environment
        self._known: Known | None = None
        self._running: AgentSessions | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.rest()

    async def rest(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.__aexit__()

    async def pages(self, cwd: str = "") -> AsyncGenerator[list[Candidate]]:
        """Yield the sessions of a directory ("" for all), as the agent lists them. Raises
        CannotImport."""
        if self._running is None:
            given = self._home, self._agent, self._config, self._environment
            self._running = await AgentSessions(*given).__aenter__()
        async with aclosing(self._running.pages(cwd)) as pages:
            async for page in pages:
                yield await asyncio.to_thread(self._judged, page)

    def bring(self, wanted: Sequence[Listed], *, removed: bool = False) -> list[Candidate]:
        """Import the sessions and return what became of each. `removed`: also those that the user
        removed. Raises CannotImport, OSError, LogError, ConfigError."""
        with _alone(self._home):
            judged = self._judged(wanted)
            states = (NEW, REMOVED) if removed else (NEW,)
            news = [each.session for each in judged if each.state in states]
            own = self._agent.name == registry.OWN
            name, given = self._agent.name, self._environment
            made = make(self._home, name, news, given, own=own) if news else []
            ids = dict(zip((each.id for each in news), made, strict=True))
            for conversation, session in ids.items():
                self._look().add(conversation, session)
        fresh = {
            each.session.id: each._replace(here=ids[each.session.id], state=NEW)
            for each in judged
            if each.session.id in ids
        }
        return [fresh.get(each.session.id, each) for each in judged]

    def _look(self) -> Known:
        if self._known is None:
            self._known = Known(self._home, self._agent.name)
        return self._known

    def _judged(self, page: Sequence[Listed]) -> list[Candidate]:
        known = self._look()
        known.look()
        return [self._judge(known, each) for each in page]

    def _judge(self, known: Known, session: Listed) -> Candidate:
        listed = Candidate(self._agent.name, session)
        if here := known.here.get(session.id):
            return listed._replace(here=here, state=HERE)
        if trashed := known.trashed.get(session.id):
            return listed._replace(here=trashed, state=TRASHED)
        if not os.path.isabs(session.cwd) or not os.path.isdir(session.cwd):
            return listed._replace(state=HOMELESS)
        return listed._replace(state=REMOVED) if session.id in known.removed else listed


@contextmanager
def _alone(home: str) -> Iterator[None]:
    """Hold the import lock: two imports of one session would create two sessions. Raises
    CannotImport."""
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
