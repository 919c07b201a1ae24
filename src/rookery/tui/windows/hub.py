"""The settings window: what can be set up, its current state, and the windows that change it."""

from typing import Any, NamedTuple

from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.limits import Setting
from rookery.forms.lists import Row
from rookery.forms.settings import PLACES, CondenserForm, CriticForm, SettingsForm
from rookery.home import config, mcp
from rookery.models import profiles
from rookery.tui.keys import bindings
from rookery.tui.windows import model, rule, server
from rookery.tui.windows.parts.form import SavedForm
from rookery.tui.windows.parts.rows import RowsScreen

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


class SettingsScreen(RowsScreen[None]):
    HEADING = "Settings"
    WIDE = 22
    BINDINGS = bindings.SETTINGS

    def load(self) -> State:
        return read_state(self.home)

    def shown(self, loaded: State) -> list[Row]:
        self._current = loaded
        if loaded.problem:
            self.tell(f"✗ {loaded.problem}")
        chosen = loaded.models.chosen
        model = f"{chosen.model} ({chosen.name})" if chosen else "None yet; Enter to set one up"
        rows = [
            Row("models", "Models", loaded.trouble or model, "on" if chosen else "off"),
            Row("condenser", "Long conversations", _condensing(loaded.models.condenser)),
            Row("servers", "MCP servers", loaded.servers),
            Row("agents", "Agents", "Install, choose the default, switch"),
        ]
        if (now := loaded.config) is not None:
            rows.append(Row("interface", "Interface", _interface(now)))
            rows.append(Row("critic", "Critic", _critic(now, loaded.models.critic)))
            number = len(now.rules)
            rules = f"{count(number, 'rule')} answering for you" if number else NO_RULES
            rows.append(Row("rules", "Rules", rules))
            places = ("worker", "sandbox", "web", "notify", "limits")
            rows += [Row(key, PLACES[key][0], _count(now, key)) for key in places]
        return rows

    def choose(self, row: Row) -> None:
        loaded, push = self._current, self.app.push_screen
        lists: dict[str, type[RowsScreen[None]]] = {
            "models": model.ModelsScreen,
            "servers": server.ServersScreen,
            "rules": rule.RulesScreen,
        }
        if row.name == "models" and not (loaded.models.profiles or loaded.trouble):
            push(model.ModelForm(loaded.models), self._when_saved)
        elif row.name in lists:
            push(lists[row.name](), lambda _: self.reload())
        elif row.name == "condenser":
            push(SavedForm(CondenserForm(loaded.models)), self._when_saved)
        elif row.name == "agents":
            self.dismiss(None)
            self.shell.call_after_refresh(self.shell.action_agents)
        else:
            assert loaded.config is not None
            if row.name == "critic":
                push(SavedForm(CriticForm(loaded.config, loaded.models)), self._changed)
            else:
                form = SettingsForm(*PLACES[row.name], loaded.config)
                push(SavedForm(form), self._changed)

    def _when_saved(self, answer: Json | None) -> None:
        self.reload()
        if answer is not None:
            self.tell(answer["words"])
            self.shell.look_around()

    def _changed(self, answer: Json | None) -> None:
        self.reload()
        if answer is not None:
            self.tell(answer["words"])
            if answer["changes"]:
                self.shell.look_around()


def _condensing(now: profiles.Condenser) -> str:
    if not now.enabled:
        return "Never summarised"
    return f"Summarise {now.summary}"


def _interface(now: config.Config) -> str:
    taste = now.interface
    cards = "cards open" if taste.cards_expanded else "cards folded"
    return f"{taste.theme.capitalize()} theme · {taste.diff} diffs · {cards}"


def _critic(now: config.Config, own: profiles.Critic) -> str:
    if not now.critic.enabled:
        return "Off"
    by = [f"Runs `{now.critic.command}`"] if now.critic.command else []
    by += [f"Judged by {own.judge}"] if own.enabled and own.judge else []
    method = ", ".join(by) or "Built-in critic"
    return f"{method}, {'automatic retry' if now.critic.refine else 'no automatic retry'}"


def _count(now: config.Config, key: str) -> str:
    table = PLACES[key][1]
    own = sum(_value(now, each) != each.default for each in table)
    return f"{count(own, 'setting')} changed" if own else "All defaults"


def _value(now: config.Config, setting: Setting) -> Any:
    value = config.value_of(now, setting)
    return None if value == "" and setting.default is None else value
