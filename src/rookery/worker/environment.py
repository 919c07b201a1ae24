"""What a session was made in, and all that it starts is given: environment and umask."""

import atexit
import os
from contextlib import suppress
from typing import NamedTuple

from rookery.client.environment import kept_of
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.settings.agent_tables import Extras
from rookery.core.vendors.environment import OVERRIDES, change_of, cleaned, completed
from rookery.core.vendors.profiles import Profile
from rookery.home import paths, scratch
from rookery.home.config import Config
from rookery.processes.child import Fence
from rookery.processes.lineage import MARK

USUAL_UMASK = 0o022

LONGEST = 60
"""Bytes of a directory in which a tmux server can listen: the path of its socket is longer, and has
a limit."""


class Surroundings(NamedTuple):
    environment: dict[str, str]
    umask: int
    fence: Fence | None = None
    """What is around all of it."""


def of_session(directory: str) -> Surroundings:
    """As the maker saved them; the worker's own where there is nothing to read. What is never saved
    is taken from the starter of the worker."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    umask = lenient.integer(saved, "umask")
    return Surroundings(_environment(saved), USUAL_UMASK if umask is None else umask & 0o777)


def _environment(saved: Json | None) -> dict[str, str]:
    names = [name for name in lenient.texts(saved, "withheld") if name in OVERRIDES]
    environment = completed(kept_of(saved), names, os.environ)
    if mark := os.environ.get(MARK):
        environment[MARK] = mark
    return environment


def renew(directory: str, environment: dict[str, str]) -> None:
    """Take up, in place, what a terminal or an editor brought since (client/environment.py)."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    if saved is not None:
        new = _environment(saved)
        environment.clear()
        environment.update(new)


def news(directory: str) -> list[Draft]:
    """What a terminal or an editor brought, told once: the names of the variables."""
    path = os.path.join(directory, paths.RENEWED)
    brought = paths.read_json(path)
    words = change_of(brought).words()
    if not words:
        return []
    with suppress(OSError):
        os.unlink(path)
    of = lenient.text(brought, "of", "terminal")
    text = f"The agent now has your {of}'s environment: {words}."
    return [Draft(notice(text, "info"))]


class AgentExtras:
    """What one agent is started with beyond its session's environment: variables of
    `[agents.NAME]`, and a place for its tmux server."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._tmux = ""

    def environment(self, config: Config, agent: str, profile: Profile) -> dict[str, str]:
        found = cleaned(config.extras.get(agent, Extras()).env)
        return {"TMUX_TMPDIR": self._tmux_place(), **found} if profile.own_tmux else found

    def _tmux_place(self) -> str:
        """The server of another session is another one: to end this one ends no command there."""
        if not os.path.isdir(self._tmux):
            self._tmux = scratch.folder(self._home, "tmux-")
            if len(os.fsencode(self._tmux)) > LONGEST:
                import shutil
                import tempfile

                self._tmux = tempfile.mkdtemp(prefix="rookery-tmux-")
                atexit.register(shutil.rmtree, self._tmux, ignore_errors=True)
        return self._tmux
