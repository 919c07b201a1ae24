"""Ctrl+P: every command, session and key by a few letters of its name."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Label

from rookery.core.json.events import Json
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.look.plain import clean_line
from rookery.tui.shell import Shell
from rookery.tui.widgets.suggestions import Suggestion, Suggestions
from rookery.tui.windows.parts.modals import Modal, keys_line
from rookery.tui.writing import commands
from rookery.tui.writing.fuzzy import ranked

MOST = 50
NAMES = {
    "session.new": "New session",
    "ask.next": "Go to the next ask",
    "session.list": "Go to the session list",
    "session.next": "Next session",
    "session.back": "Previous session",
    "find": "Find in the transcript",
    "panel": "Show or hide the side panel",
    "session.options": "Choose model, mode and other options",
    "confirm": "Choose when to ask",
    "agents": "Choose or switch the agent",
    "settings": "Settings",
    "servers": "MCP servers",
    "theme": "Next theme",
    "help": "Every key",
    "turn.cancel": "Cancel the turn",
    "quit": "Leave",
}
"""Keys that work everywhere, as commands; what is needed most first."""


class Entry(NamedTuple):
    name: str
    words: str = ""
    """Beside it: its key, or what it is."""
    action: str = ""
    """An action of the app."""
    slash: str = ""
    """Or a slash command, without its value."""
    session: str = ""
    """Or a session to open."""


def entries(app: Shell) -> list[Entry]:
    header: Json | None = app.window.header if app.session else None
    actions = {each.id: each.action for each in bindings.EVERYWHERE if isinstance(each, Binding)}
    idle = header is None or header["state"] == "idle"
    found = [
        Entry(name, label(app, key), action=actions[key])
        for key, name in NAMES.items()
        if not (idle and key == "turn.cancel")
    ]
    found += [
        Entry(f"/{each.name}", each.words, slash=each.name)
        for each in commands.known(header).values()
    ]
    found += [
        Entry(clean_line(block["title"], 80), f"session {block['id']}", session=block["id"])
        for block in app.fleet.sessions
    ]
    return found


class PaletteScreen(Modal[Entry]):
    BINDINGS: ClassVar[list[BindingType]] = bindings.SEARCH

    def __init__(self, found: Sequence[Entry]) -> None:
        super().__init__()
        self._all = {f"{each.name}  {each.words}": each for each in found}
        self._found: list[Entry] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label("Commands and sessions", classes="title")
            yield Input(placeholder="a few letters of its name", compact=True)
            yield Suggestions(id="found", most=max(8, min(20, self.app.size.height - 16)))
            yield Label("", id="none", classes="hint", markup=False)
            yield Label(keys_line(self), classes="keys")

    def on_mount(self) -> None:
        super().on_mount()
        self._look()

    def on_input_changed(self) -> None:
        self._look()

    def _look(self) -> None:
        words = self.query_one(Input).value.strip()
        names = ranked(words, self._all, MOST) if words else list(self._all)
        self._found = [self._all[name] for name in names]
        rows = [
            Suggestion(str(place), each.name, each.words) for place, each in enumerate(self._found)
        ]
        listed = self.query_one("#found", Suggestions)
        listed.close()
        listed.offer(rows)
        self.query_one("#none", Label).display = not rows
        self.query_one("#none", Label).update("" if rows else "Nothing has these letters.")

    def action_move(self, step: int) -> None:
        listed = self.query_one("#found", Suggestions)
        if listed.is_open:
            listed.move(step)

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        listed = self.query_one("#found", Suggestions)
        if listed.is_open:
            self.dismiss(self._found[listed.at])
