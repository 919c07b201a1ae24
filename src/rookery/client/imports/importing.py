"""Sessions that were begun elsewhere: which there are, which are here already, and imports of them.

An import is a new session whose log is what the agent replays, with the agent's own session id: it
is read like any other, and its next prompt continues the agent's conversation. One that is here
already is not imported again.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from rookery.agents import registry
from rookery.client.create import create_session
from rookery.client.imports.agent_sessions import AgentSessions, CannotImport
from rookery.core.agent import imported
from rookery.core.agent.imported import Listed
from rookery.core.agent.opening import KINDS, conversations
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


def known(home: str, agent: str) -> dict[str, str]:
    """The conversations of an agent that sessions of this home have: its id, and the session's."""
    found: dict[str, str] = {}
    for session in sorted(paths.session_ids(home)):
        with suppress(LogError, OSError), Reader.open(paths.session_dir(home, session)) as log:
            for each in conversations(log.of_kinds(*KINDS)):
                if each.agent == agent:
                    found.setdefault(each.id, session)
    return found


async def find(
    home: str, agent: registry.Agent, config: Config, environment: Mapping[str, str], cwd: str = ""
) -> list[Found]:
    """Newest first, so far as the agent tells. Raises CannotImport."""
    async with AgentSessions(home, agent, config, environment) as sessions:
        listed = await sessions.list(cwd)
    here = known(home, agent.name)
    listed.sort(key=lambda each: each.updated, reverse=True)
    return [Found(agent.name, each, here.get(each.id, "")) for each in listed]


async def bring(
    home: str,
    agent: registry.Agent,
    config: Config,
    environment: Mapping[str, str],
    wanted: Listed,
) -> Found:
    """Import one. Raises CannotImport."""
    if not os.path.isdir(wanted.cwd):
        place = wanted.cwd or "a directory that it does not name"
        raise CannotImport(f"{wanted.id} worked in {place}, which no longer exists.")
    with _alone(home):
        if here := known(home, agent.name).get(wanted.id):
            return Found(agent.name, wanted, here)
        async with AgentSessions(home, agent, config, environment) as sessions:
            history, ready = await sessions.load(wanted, wanted.cwd)
        if not history.updates:
            raise CannotImport(f"{agent.name} replayed nothing of {wanted.id}.")
        session = create_session(
            home,
            agent=agent.name,
            argv=[],
            cwd=wanted.cwd,
            environment=environment,
            history=imported.drafts(history, ready, wanted.title),
        )
        return Found(agent.name, wanted, session)


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
