"""Creates the sessions for one page of an agent's list; the agent keeps their history until one is
opened (`core/agent/imported.py`).

A page is written beside the other sessions, under a name that lists ignore; then each session
appears by a rename. A killed process leaves only whole sessions and a directory that is swept.
Nothing is synced: what a power failure takes is still listed by the agent."""

import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from rookery.client.config import in_force
from rookery.client.create import begun, default_confirm, default_sandbox, sweep
from rookery.client.daemon.origin import by
from rookery.client.environment import keep
from rookery.core.agent.imported import Listed, listed_as
from rookery.core.json import Draft, Json, dumps
from rookery.core.settings.sandbox import NONE
from rookery.core.view.fleet import head_of
from rookery.home import paths
from rookery.log import schema
from rookery.log.place import check_home
from rookery.log.store import image


def make(
    home: str, agent: str, sessions: Iterable[Listed], environment: Mapping[str, str], *, own: bool
) -> list[str]:
    """Create the sessions and return their ids, in the same order. Each asks as much as any new
    session. `own`: the agent is Rookery's. Raises OSError, LogError, ConfigError."""
    paths.ensure_home(home)
    check_home(home)
    sweep(home)
    given: Json = {"roots": [], "mcpServers": [], "agent": agent, "argv": []}
    given |= default_confirm(home)
    if (kind := default_sandbox(in_force.load(home), agent, ())) != NONE:
        given["sandbox"] = kind
    with begun(home, "") as (_, stage):
        keep(stage, environment, own=own)
        with open(os.path.join(stage, paths.ENVIRONMENT), "rb") as file:
            kept = file.read()
        made = [_write(home, stage, given, each, kept) for each in sessions]
        for session in made:
            os.rename(os.path.join(stage, session), paths.session_dir(home, session))
    return made


def _write(home: str, stage: str, given: Json, listed: Listed, environment: bytes) -> str:
    session = paths.new_id()
    while os.path.lexists(paths.session_dir(home, session)):
        session = paths.new_id()
    directory = os.path.join(stage, session)
    os.mkdir(directory, 0o700)
    at = _last_used(listed)
    update: Json = {"sessionUpdate": "_session", "id": session, "cwd": listed.cwd, "created": at}
    log, state = image([Draft(update | given | listed_as(listed), None, by())], at)
    head = head_of(state.header, state.seq, state.at)
    files = {paths.ENVIRONMENT: environment, schema.FILE: log, paths.HEAD: dumps(head).encode()}
    for name, data in files.items():
        file = os.open(f"{directory}/{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _write_all(file, data)
        finally:
            os.close(file)
    return session


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _last_used(listed: Listed) -> int:
    """When the session was last used, in milliseconds since the epoch; now, if the agent gives no
    time or one in the future."""
    now = time.time_ns() // 1_000_000
    try:
        at = datetime.fromisoformat(listed.updated)
        stamp = int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return now
    return stamp if 0 < stamp < now else now
