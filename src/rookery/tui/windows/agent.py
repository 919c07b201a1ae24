"""The window with the agents: which are installed, how to install the others, which is the default,
and which takes over the current session."""

from functools import partial

from rookery.agents import downloads, registry
from rookery.agents.install import Plan, is_installable
from rookery.forms import agent_install
from rookery.forms.lists import Known, Row, agent_row, agents
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.install import InstallScreen, prepared
from rookery.tui.windows.parts.section import SectionScreen


class AgentsScreen(SectionScreen[str]):
    """The list of agents; returns the name of the agent that was chosen."""

    LIST = "agents"
    WIDE = 26
    BINDINGS = bindings.AGENTS

    def __init__(self, current: str = "", title: str = "") -> None:
        super().__init__(title)
        self._current = current
        """The agent of the session that is shown."""
        self._fresh = ""
        """The one that was just installed here."""

    def load(self) -> list[Known]:
        return agents(self.home, self.shell.start.cwd)

    def shown(self, loaded: list[Known]) -> list[Row]:
        self._agents = {each.entry.name: each for each in loaded}
        return [self._row(each) for each in loaded]

    def _row(self, each: Known) -> Row:
        key = label(self.app, "settings")
        return agent_row(each, self._current, f"no model yet: {key} sets one up")

    def on_option_list_option_highlighted(self) -> None:
        """Show how to install the agent under the cursor, or what can be done with it."""
        agent = self._agents[self.current.name] if self.current else None
        if agent and agent.entry.name == self._fresh:
            text = f"{self._fresh} is installed. {agent_install.login_hint(self._fresh)}"
            self.tell(f"{text} {label(self.app, 'agents.take')} uses it here.")
        else:
            key = label(self.app, "agents.login")
            out = f"{key} logs in to it." if agent and agent.login.is_out else ""
            self.tell(agent.entry.install if agent and not agent.installed else out)

    def choose(self, row: Row) -> None:
        agent = self._agents[row.name]
        if not agent.installed and self._is_installable(agent):
            opened = partial(self._offer, row.name)
            self.fetch(partial(prepared, self.home, row.name), opened)
        elif not agent.installed:
            install, key = agent.entry.install, label(self.app, "agents.copy")
            text = registry.not_installed(row.name, install)
            self.tell(f"{text}   ({key} copies this)" if install else text)
        elif row.name == self._current:
            self.tell(f"{row.name} is already this session's agent.")
        else:
            self.dismiss(row.name)

    def _is_installable(self, agent: Known) -> bool:
        if agent.own:  # only a program of the registry: another is the user's
            return downloads.offered(self.home, agent.entry.name) is not None
        return is_installable(self.home, agent.entry.name)

    def _offer(self, name: str, outcome: tuple[Plan | None, str]) -> None:
        plan, why = outcome
        if plan is None:
            self.tell(f"✗ {why}")
        else:
            self.shell.ask(InstallScreen(name, plan), self._installed)

    def _installed(self, name: str) -> None:
        self._fresh = self.then = name
        self.reload()
        self.shell.look_around()

    def action_copy(self) -> None:
        if self.current and (line := self._agents[self.current.name].entry.install):
            self.app.copy_to_clipboard(line)
            self.tell(f"Copied: {line}")

    def action_log_in(self) -> None:
        """Log in to the agent under the cursor."""
        agent = self._agents[self.current.name] if self.current else None
        if agent is None or not agent.installed:
            self.tell("Install it first." if agent else "")
        elif agent.entry.name == registry.OWN:
            self.tell(f"Rookery's own agent needs a model: {label(self.app, 'settings')}")
        else:
            self.tell(self.shell.log_in(agent.entry.name))
            self.then = agent.entry.name
            self.reload()
            self.shell.look_around()
