"""Lists that typing narrows: Ctrl+P finds commands, sessions and keys, Ctrl+R earlier prompts."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, Label

from rookery.core.header import Header
from rookery.core.view.fuzzy import ranked
from rookery.render.runs import clean_line
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.widgets.suggestions import Suggestion, Suggestions
from rookery.tui.windows.parts.modals import Modal
from rookery.tui.writing import commands
from rookery.tui.writing.history import Past

MAX_MATCHES = 50
NAMES = {
    "session.new": "New session",
    "ask.next": "Go to the next ask",
    "session.list": "Go to the session list",
    "session.next": "Next session",
    "session.back": "Previous session",
    "find": "Find in the transcript",
    "panel": "Show or hide the side panel",
    "session.options": "Choose model, mode and other options",
    "confirm": "Choose approvals",
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
    detail: str = ""
    """Beside it: its key, or what it is."""
    action: str = ""
    """An action of the app."""
    slash: str = ""
    """Or a slash command, without its value."""
    session: str = ""
    """Or a session to open."""


def entries(app: Shell) -> list[Entry]:
    header: Header | None = app.window.header if app.session else None
    actions = {each.id: each.action for each in bindings.EVERYWHERE if isinstance(each, Binding)}
    idle = header is None or header.state == "idle"
    items = [
        Entry(name, label(app, key), action=actions[key])
        for key, name in NAMES.items()
        if app.offers(actions[key]) and not (idle and key == "turn.cancel")
    ]
    items.append(Entry("Search everything…", "in all sessions", action="search_all"))
    items += [
        Entry(f"/{each.name}", each.about, slash=each.name)
        for each in commands.known(header, here=not app.start.address).values()
    ]
    items += [
        Entry(clean_line(block["title"], 80), f"session {block['id']}", session=block["id"])
        for block in app.fleet.sessions
    ]
    return items


class SearchScreen[Answer](Modal[Answer]):
    """A list that typing narrows."""

    BINDINGS = bindings.SEARCH
    HINT: ClassVar[str]
    NONE: ClassVar[str]
    """Shown where nothing is found."""
    TALLEST: ClassVar[int] = 8

    def __init__(self, query: str = "") -> None:
        super().__init__()
        self._typed = query
        self._offers: list[Answer] = []

    def find(self, query: str) -> list[tuple[Answer, str, str]]:
        """Return the matches, each with its name and the text beside it."""
        raise NotImplementedError

    def body(self) -> ComposeResult:
        yield Input(self._typed, placeholder=self.HINT, compact=True)
        yield Suggestions(id="found", most=max(8, min(self.TALLEST, self.app.size.height - 16)))
        yield Label(self.NONE, id="none", classes="hint", markup=False)

    @property
    def _listed(self) -> Suggestions:
        return self.query_one("#found", Suggestions)

    def on_mount(self) -> None:
        self.on_input_changed()

    def on_input_changed(self) -> None:
        self.look_for(self.query_one(Input).value)

    def look_for(self, query: str) -> None:
        self.offer(self.find(query))

    def offer(self, matches: list[tuple[Answer, str, str]]) -> None:
        """List the matches, each with its name and the text beside it."""
        self.list_rows([(each, Suggestion("", name, detail)) for each, name, detail in matches])

    def list_rows(self, rows: list[tuple[Answer, Suggestion]]) -> None:
        self._offers = [each for each, _ in rows]
        self._listed.close()
        self._listed.offer([row._replace(insert=str(at)) for at, (_, row) in enumerate(rows)])
        self.query_one("#none", Label).display = not rows

    def action_move(self, step: int) -> None:
        if self._listed.is_open:
            self._listed.move(step)

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        if self._listed.is_open:
            self.dismiss(self._offers[self._listed.at])


class HistoryScreen(SearchScreen[str]):
    HEADING = "Earlier prompts"
    HINT = "Search prompts"
    NONE = "No matches."

    def __init__(self, past: Past, query: str) -> None:
        super().__init__(query.partition("\n")[0])
        self._past = past

    def find(self, query: str) -> list[tuple[str, str, str]]:
        return [(text, clean_line(text, 200), "") for text in self._past.matches(query)[:100]]


class PaletteScreen(SearchScreen[Entry]):
    HEADING = "Commands and sessions"
    HINT = "Search commands"
    NONE = "No matches."
    TALLEST = 20

    def __init__(self, items: Sequence[Entry]) -> None:
        super().__init__()
        self.captions["search.take"] = "choose"
        self._all = {f"{each.name}  {each.detail}": each for each in items}

    def find(self, query: str) -> list[tuple[Entry, str, str]]:
        names = ranked(query.strip(), self._all, MAX_MATCHES) if query.strip() else list(self._all)
        return [(each, each.name, each.detail) for each in map(self._all.__getitem__, names)]
