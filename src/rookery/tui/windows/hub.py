"""The settings window: what can be set up, its current state, and the windows that change it."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.limits import Setting
from rookery.forms import catalog
from rookery.forms.lists import Row
from rookery.forms.sections import FORMS, SECTIONS
from rookery.home import config, mcp
from rookery.models import profiles
from rookery.tui.keys import bindings
from rookery.tui.windows import model, rule, server
from rookery.tui.windows.parts.section import SectionScreen
from rookery.tui.windows.search import SearchScreen

SCREENS: dict[str, type[SectionScreen[None]]] = {
    "models": model.ModelsScreen,
    "servers": server.ServersScreen,
    "rules": rule.RulesScreen,
}
NO_RULES = "None yet; you can add one when an agent asks"


class State(NamedTuple):
    models: profiles.Settings
    trouble: str
    """Of the models' file."""
    config: config.Config | None
    problem: str
    """Of config.toml."""
    servers: str


def read_state(home: str) -> State:
    try:
        settings_, problem = config.load(home), ""
    except config.ConfigError as error:
        settings_, problem = None, str(error)
    try:
        listed = mcp.load(home)
        on = sum(each.enabled for each in listed)
        servers = f"{on} of {len(listed)} on" if listed else "None yet"
    except mcp.McpError as error:
        servers = str(error)
    return State(*profiles.look(home), settings_, problem, servers)


class SettingsScreen(SectionScreen[None]):
    HEADING = "Settings"
    WIDE = 22
    BINDINGS = bindings.SETTINGS

    def load(self) -> State:
        return read_state(self.home)

    def shown(self, loaded: State) -> list[Row]:
        self._current = loaded
        if loaded.problem:
            self.tell(f"✗ {loaded.problem}")
        signs = {"models": "on" if loaded.models.chosen else "off"}
        return [
            Row(name, section.title, summary, signs.get(name, ""))
            for name, section in SECTIONS.items()
            if (summary := _summary(name, loaded))
        ]

    def choose(self, row: Row) -> None:
        self._open(row.name)

    def action_find(self) -> None:
        """Search in all sections and their fields."""
        self.fetch(
            partial(catalog.entries, self.home),
            lambda known: self.shell.ask(
                FindSettingScreen(known), lambda match: self._open(match.section, match.field)
            ),
        )

    def _open(self, name: str, field: str = "") -> None:
        loaded = self._current
        if name == "agents":
            self.dismiss(None)
            self.shell.call_after_refresh(self.shell.action_agents)
        elif name == "models" and not (loaded.models.profiles or loaded.trouble):
            self.shell.ask(model.ModelForm(loaded.models), self._changed)
        elif name in SCREENS:
            self.app.push_screen(SCREENS[name](), lambda _: self.reload())
        else:
            self.open_form(name, "", self._changed, field)

    def _changed(self, answer: Json) -> None:
        self.ended(answer["words"])
        self.shell.look_around()


class FindSettingScreen(SearchScreen[catalog.Match]):
    HEADING = "Search settings"
    HINT = "What it is called, or what it does"
    NONE = "No setting matches."
    TALLEST = 20

    def __init__(self, known: Sequence[catalog.Match]) -> None:
        super().__init__()
        self.captions["search.take"] = "open"
        self._known = known

    def find(self, query: str) -> list[tuple[catalog.Match, str, str]]:
        return [
            (each, each.title, SECTIONS[each.section].title if each.field else each.about)
            for each in catalog.matching(self._known, query)
        ]


def _summary(name: str, loaded: State) -> str:
    """Describe in a line what a section has now; "" if it cannot be read."""
    chosen, now = loaded.models.chosen, loaded.config
    match name:
        case "models":
            known = f"{chosen.model} ({chosen.name})" if chosen else "None yet; Enter sets one up"
            return loaded.trouble or known
        case "servers":
            return loaded.servers
        case "agents":
            return "Install, choose the default, switch"
        case "condenser":
            return _condensing(loaded.models.condenser)
        case _ if now is None:
            return ""
        case "rules":
            number = len(now.rules)
            return f"{count(number, 'rule')} answering for you" if number else NO_RULES
        case "critic":
            return _critic(now, loaded.models.critic)
    return _count(now, FORMS[name].settings)


def _condensing(now: profiles.Condenser) -> str:
    if not now.enabled:
        return "Never summarised"
    return f"Summarise {now.summary}"


def _critic(now: config.Config, own: profiles.Critic) -> str:
    if not now.critic.enabled:
        return "Off"
    by = [f"Runs `{now.critic.command}`"] if now.critic.command else []
    by += [f"Judged by {own.judge}"] if own.enabled and own.judge else []
    method = ", ".join(by) or "Built-in critic"
    return f"{method}, {'automatic retry' if now.critic.refine else 'no automatic retry'}"


def _count(now: config.Config, table: Sequence[Setting]) -> str:
    own = sum(_value(now, each) != each.default for each in table)
    return f"{count(own, 'setting')} changed" if own else "All defaults"


def _value(now: config.Config, setting: Setting) -> Any:
    value = config.value_of(now, setting)
    return None if value == "" and setting.default is None else value
