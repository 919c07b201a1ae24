"""Windows for a session's choices: its options, and the values of one option."""

from typing import Any

from rookery.core.header import Header
from rookery.core.json import Json
from rookery.core.vendors import options
from rookery.forms.lists import Row
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.rows import RowsScreen


class ChoiceScreen(RowsScreen[str]):
    """A list of choices; returns the value that was chosen."""

    BINDINGS = bindings.CHOICE

    def __init__(self, title: str, choices: list[Row], note: str = "") -> None:
        super().__init__(title)
        self._choices, self._note = choices, note

    def begin(self) -> None:
        self.fill(self._choices)
        if self._note:
            self.tell(self._note)

    def choose(self, row: Row) -> None:
        self.dismiss(row.name)


def of_session(header: Header) -> list[Row]:
    """Return a row for every option of a session, with its value."""
    rows = []
    for option in header.options:
        names = {choice["value"]: choice["name"] for choice in option["choices"]}
        now = spelled(option["value"])
        if isinstance(option["value"], bool):
            names = {"true": "on", "false": "off"} | names
        now = "" if now == "default" and names.get(now, now).lower() == now else now or "unknown"
        rows.append(Row(option["id"], option["name"], names.get(now) or now))
    return rows


def of_option(option: Json) -> list[Row]:
    now = spelled(option["value"])
    known = [
        Row(choice["value"], choice["name"], choice["description"]) for choice in option["choices"]
    ]
    if not known and isinstance(option["value"], bool):
        known = [Row("true", "on"), Row("false", "off")]
    return [marked(row, row.name == now) for row in known]


def marked(row: Row, current: bool) -> Row:
    return row._replace(sign="on" if current else "off", tag="current" if current else "")


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value or "")


def command(option: Json, chosen: str) -> Json:
    """Return the command that sets the option, under the option's usual name if it has one."""
    value: Any = chosen == "true" if isinstance(option["value"], bool) else chosen
    called = {category: name for name, category in options.CATEGORY.items()}
    return {"do": "set", "option": called.get(option["category"], option["id"]), "value": value}


def outcome_text(sent: Json, outcome: Json) -> str:
    """Describe the outcome of a `set` command."""
    name, value = sent["option"], spelled(sent["value"])
    if outcome.get("confirmed") is True or outcome.get("sessionUpdate") != "_session":
        return f"{name} is now {value}."
    return f"{name} will be {value} when the agent starts."
