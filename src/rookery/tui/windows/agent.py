"""The agents: which are installed, how to install the others, which is the default, and which takes
over the session that is shown."""

import os
from typing import ClassVar, NamedTuple

from textual.binding import BindingType

from rookery.agents import registry
from rookery.client.config import edit
from rookery.core.json.events import Json
from rookery.home import config
from rookery.models.choice import default_agent, has_model
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.modals import SureScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen


class Known(NamedTuple):
    name: str
    title: str
    installed: bool
    install: str
    """The command, or where to read; empty: unknown."""
    default: bool
    bare: bool = False
    """Rookery's own, without a model."""


def listed(home: str, cwd: str) -> list[Known] | str:
    """The installed ones first."""
    try:
        settings = config.load(home)
    except config.ConfigError as error:
        return str(error)
    default = default_agent(home, settings.default_agent, os.environ)
    found = []
    for name in registry.names(settings.agents):
        agent = registry.resolve(name, settings.agents)
        entry = None if name in settings.agents else registry.AGENTS[name]
        try:
            registry.check_installed(agent, os.environ, cwd, settings.node_path)
            installed = True
        except registry.NotInstalled:
            installed = False
        bare = name == registry.OWN and entry is not None and not has_model(home)
        title = entry.title if entry else name
        install = entry.install if entry else ""
        found.append(Known(name, title, installed, install, name == default, bare))
    return sorted(found, key=lambda each: not each.installed)


class AgentsScreen(RowsScreen[str]):
    """Ends with the name of the agent that was chosen."""

    HEADING = "Agents"
    WIDE = 26
    BINDINGS: ClassVar[list[BindingType]] = bindings.AGENTS

    def __init__(self, current: str = "", title: str = "") -> None:
        super().__init__(title)
        self._current = current
        """The agent of the session that is shown."""

    def load(self) -> list[Known] | str:
        return listed(self.home, self.shell.start.cwd)

    def shown(self, found: list[Known] | str) -> list[Row]:
        if isinstance(found, str):
            self._agents: dict[str, Known] = {}
            self.tell(f"✗ {found}")
            return []
        self._agents = {each.name: each for each in found}
        return [self._row(each) for each in found]

    def _row(self, each: Known) -> Row:
        sign = "on" if each.installed else "off"
        key = label(self.app, "settings")
        ready = f"no model yet: {key} sets one up" if each.bare else "installed"
        more = ready if each.installed else "not installed"
        tags = ["current"] if each.name == self._current else []
        tags += ["default"] if each.default else []
        title = each.name if each.title.lower() == each.name else f"{each.name} · {each.title}"
        return Row(each.name, title, more, sign, ", ".join(tags))

    def on_option_list_option_highlighted(self) -> None:
        """How to install the one under the cursor."""
        agent = self._agents.get(self.current.name) if self.current else None
        missing = agent is not None and not agent.installed and agent.install
        self.tell(agent.install if agent and missing else "")

    def choose(self, row: Row) -> None:
        agent = self._agents[row.name]
        if not agent.installed:
            key = label(self.app, "agents.copy")
            words = registry.not_installed(agent.name, agent.install)
            self.tell(f"{words}   ({key} copies this)" if agent.install else words)
        elif agent.name == self._current:
            self.tell(f"{agent.name} is already this session's agent.")
        else:
            self.dismiss(agent.name)

    def action_copy(self) -> None:
        if self.current and (line := self._agents[self.current.name].install):
            self.app.copy_to_clipboard(line)
            self.tell(f"Copied: {line}")

    def action_default(self) -> None:
        if (row := self.current) is None:
            return
        home = self.home

        def ended(why: str) -> None:
            self.ended(f"✗ {why}" if why else f"New sessions use {row.name}.")
            self.shell.look_around()

        self.fetch(lambda: edit.attempt(home, {"default_agent": row.name}), ended)


def takeover(header: Json, name: str) -> SureScreen:
    """What happens when another agent takes over, before it does."""
    before = header["agent"]
    words = [f"The conversation stays here, but {name} does not know it."]
    words.append("You can put a recap of it into the composer afterwards.")
    if header["state"] != "idle":
        words.append(f"The running turn is cancelled, and {before} is stopped.")
    else:
        words.append(f"{before} is stopped; its modes and limits are lost.")
    if header["queue"]:
        words.append("Queued prompts are kept.")
    return SureScreen(f"Switch from {before} to {name}?", "\n".join(words))
