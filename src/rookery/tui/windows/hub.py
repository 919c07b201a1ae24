"""Settings: what there is to set up, each with how it stands, and the window that changes it."""

from typing import Any, ClassVar, NamedTuple

from textual.binding import BindingType

from rookery.core.json.events import Json
from rookery.core.limits import INTERFACES, NUMBERS, Setting
from rookery.core.settings import definitions
from rookery.home import config, mcp
from rookery.models import profiles
from rookery.models.critic import Critic
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.rows import Row, RowsScreen

PLACES = {
    "interface": ("Interface", INTERFACES),
    "worker": (
        "Sessions and workers",
        (*definitions.PLAIN, *definitions.SESSION, *definitions.AGENT),
    ),
    "limits": ("Times and limits", NUMBERS),
}
"""The parts of config.toml that are one form each."""


class Found(NamedTuple):
    models: profiles.Settings
    trouble: str
    """Of the models' file."""
    config: config.Config | None
    problem: str
    """Of config.toml."""
    servers: str


def found(home: str) -> Found:
    """Reads files: for the engine room."""
    try:
        settings_, problem = config.load(home), ""
    except config.ConfigError as error:
        settings_, problem = None, str(error)
    try:
        listed = mcp.load(home)
        on = sum(each.enabled for each in listed)
        servers = f"{on} of {len(listed)} on" if listed else "none yet"
    except mcp.McpError as error:
        servers = str(error)
    return Found(*profiles.look(home), settings_, problem, servers)


class SettingsScreen(RowsScreen[None]):
    """Opens the window of what was chosen, and stays below it."""

    HEADING = "Settings"
    WIDE = 22
    BINDINGS: ClassVar[list[BindingType]] = bindings.SETTINGS

    def load(self) -> Found:
        return found(self.shell.start.home)

    def shown(self, found: Found) -> list[Row]:
        self._found = found
        if found.problem:
            self.tell(f"✗ {found.problem}")
        chosen = found.models.chosen
        model = f"{chosen.model} ({chosen.name})" if chosen else "none yet: Enter sets one up"
        rows = [
            Row("models", "Models", found.trouble or model, "on" if chosen else "off"),
            Row("condenser", "Long conversations", _condensing(found.models.condenser)),
            Row("servers", "MCP servers", found.servers),
            Row("agents", "Agents", "installed or not, the default, who takes over"),
        ]
        if (now := found.config) is not None:
            rows.append(Row("interface", "Interface", _interface(now)))
            rows.append(Row("critic", "Critic", _critic(now, found.models.critic)))
            rows.append(Row("rules", "Rules", _rules(len(now.rules))))
            rows += [Row(key, PLACES[key][0], _count(now, key)) for key in ("worker", "limits")]
        return rows

    def choose(self, row: Row) -> None:
        match row.name:
            case "models" if not (self._found.models.profiles or self._found.trouble):
                from rookery.tui.windows.model import ModelForm

                self.app.push_screen(ModelForm(), self._told)
            case "models":
                from rookery.tui.windows.model import ModelsScreen

                self.app.push_screen(ModelsScreen(), lambda _: self.reload())
            case "condenser":
                from rookery.tui.windows.setting import CondenserForm

                self.app.push_screen(CondenserForm(self._found.models), self._told)
            case "servers":
                from rookery.tui.windows.server import ServersScreen

                self.app.push_screen(ServersScreen(), lambda _: self.reload())
            case "agents":
                self.dismiss(None)
                self.shell.call_after_refresh(self.shell.action_agents)
            case "rules":
                from rookery.tui.windows.rule import RulesScreen

                self.app.push_screen(RulesScreen(), lambda _: self.reload())
            case "critic":
                from rookery.tui.windows.critic import CriticForm

                assert self._found.config is not None
                form = CriticForm(self._found.config, self._found.models)
                self.app.push_screen(form, self._changed)
            case key:
                self._open_form(key)

    def _open_form(self, key: str) -> None:
        from rookery.tui.windows.setting import SettingsForm

        title, table = PLACES[key]
        assert self._found.config is not None
        form = SettingsForm(title, table, self._found.config)
        self.app.push_screen(form, self._changed)

    def action_open(self) -> None:
        if self.current:
            self.choose(self.current)

    def _told(self, answer: Json | None) -> None:
        self.reload()
        if answer is not None:
            self.tell(answer["words"])
            self.shell.look_around()

    def _changed(self, changes: Json | None) -> None:
        self.reload()
        if changes:
            self.tell(f"Saved: {', '.join(changes)}.")
            self.shell.look_around()
        elif changes is not None:
            self.tell("Nothing was changed.")


def _rules(number: int) -> str:
    if not number:
        return "none yet: an ask offers to make one"
    return f"{number} that {'answers' if number == 1 else 'answer'} for you"


def _condensing(now: profiles.Condenser) -> str:
    if not now.enabled:
        return "never shortened"
    return f"shortened over {now.max_size} events, the first {now.keep_first} stay"


def _interface(now: config.Config) -> str:
    taste = now.interface
    cards = "cards open" if taste.cards_expanded else "cards folded"
    return f"{taste.theme} · {taste.diff} diffs · {cards}"


def _critic(now: config.Config, own: Critic) -> str:
    if not now.critic.enabled:
        return "off"
    by = [f"runs {now.critic.command}"] if now.critic.command else []
    by += [f"judged by {own.judge}"] if own.enabled and own.judge else []
    said = " · ".join(by) or "the agent's own"
    return f"{said} · {'refines' if now.critic.refine else 'does not refine'}"


def _count(now: config.Config, key: str) -> str:
    table = PLACES[key][1]
    own = sum(_value(now, each) != each.default for each in table)
    return f"{len(table)} settings, {own or 'none'} of them changed"


def _value(now: config.Config, setting: Setting) -> Any:
    value = config.value_of(now, setting)
    return None if value == "" and setting.default is None else value
