"""What one agent is started with beyond its session's environment: variables of `[agents.NAME]`, a
place for its tmux server, and which MCP servers it gets."""

import atexit
import os

from rookery.core.json.events import Json
from rookery.core.settings.agent_tables import Extras, McpChoice
from rookery.core.vendors.environment import cleaned
from rookery.core.vendors.profiles import Profile
from rookery.home import scratch
from rookery.home.config import Config

LONGEST = 60
"""Bytes of a directory in which a tmux server can listen: the path of its socket is longer, and has
a limit."""


class AgentExtras:
    def __init__(self, home: str) -> None:
        self._home = home
        self._tmux = ""

    def environment(self, config: Config, agent: str, profile: Profile) -> dict[str, str]:
        found = cleaned(_of(config, agent).env)
        return {"TMUX_TMPDIR": self._tmux_place(), **found} if profile.own_tmux else found

    def _tmux_place(self) -> str:
        """The server of another session is another one: to end this one ends no command there."""
        if not os.path.isdir(self._tmux):
            self._tmux = scratch.folder(self._home, "tmux-")
            if len(os.fsencode(self._tmux)) > LONGEST:
                self._tmux = _short()
        return self._tmux


def _short() -> str:
    import shutil
    import tempfile

    place = tempfile.mkdtemp(prefix="rookery-tmux-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def servers(config: Config, agent: str, profile: Profile) -> tuple[McpChoice, str, list[Json]]:
    """Which MCP servers it is given; what to say where it gets none by default; and those of
    its own that it wants to be handed."""
    chosen = _of(config, agent).mcp
    brought = [] if chosen is False else [_server(*each) for each in profile.own_servers]
    if chosen is not None or profile.takes_servers:
        return (True if chosen is None else chosen), "", brought
    words = f"{agent} does not get your MCP servers, because it does not work with them; "
    anyway = f"to pass them anyway, set agents.{agent}.mcp = true in config.toml."
    return False, words + anyway, brought


def _server(name: str, program: str, *arguments: str) -> Json:
    return {"name": name, "command": program, "args": list(arguments), "env": []}


def _of(config: Config, agent: str) -> Extras:
    return config.extras.get(agent, Extras())
