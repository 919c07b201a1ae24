"""When you are asked: in the session that is shown, or in the one that the first prompt makes; and,
as a step of its own, in all new ones (row P6)."""

import os

from rookery.client.config import edit
from rookery.core.json.events import Json
from rookery.core.policy import modes
from rookery.home import config
from rookery.models.choice import default_agent
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen, marked
from rookery.tui.windows.parts.rows import Row

NEW = "new"
"""The row that leads to the second step."""
SETTING = "session.confirm"


def open_dialog(app: Shell) -> None:
    home, agent = app.start.home, app.start.agent
    app.room.fetch(lambda: beginning(home, agent), lambda found: _choose(app, *found))


def beginning(home: str, agent: str) -> tuple[str, str]:
    """Who a new session would be with, and how much is asked then; of a file that cannot be used,
    the strictest."""
    try:
        found = config.load(home)
    except config.ConfigError:
        found = config.Config()
    return agent or default_agent(home, found.default_agent, os.environ), found.confirm


def rows(agent: str, vendor: str | None, current: str, begins: str = "") -> list[Row]:
    """The choices for one agent; with `begins`, which new sessions do, the way to change that."""
    found = [
        marked(Row(value, title, more), value == current)
        for value, title, more in modes.choices_of(agent, vendor)
    ]
    if begins:
        words = f"they begin with: {_title(begins)}"
        found.append(Row(NEW, "Also for new sessions…", words))
    return found


def help_of(agent: str, vendor: str | None, known: str = "") -> str:
    """What is said below the choices."""
    alone = modes.SANDBOX if modes.decides_alone(agent, vendor) else ""
    return " ".join(words for words in (known, alone) if words)


def _choose(app: Shell, agent: str, begins: str) -> None:
    session = app.session
    header = app.window.header if session else None
    agent = str(header["agent"]) if header else agent
    vendor = str(header["vendor"]) if header else None
    current = modes.current(header) if header else app.start.confirms(begins)

    def chosen(value: str | None) -> None:
        if value == NEW:
            _choose_default(app, begins)
        elif value is not None and session:
            app.send({"do": "set", "option": modes.OPTION, "value": value}, session)
        elif value is not None:
            app.start.once = value
            words = modes.words_of(agent, vendor, value)
            app.notify(f"{words}. For the session that you begin here.", markup=False)
            app.look_around()

    title = "When are you asked?" if session else "When are you asked, in this new session?"
    said = modes.sentence(header) if header and modes.brief(header) else ""
    words = help_of(agent, vendor, said)
    app.push_screen(ChoiceScreen(title, rows(agent, vendor, current, begins), words), chosen)


def _choose_default(app: Shell, begins: str) -> None:
    home = app.start.home

    def chosen(value: str | None) -> None:
        if value is not None:
            app.room.fetch(lambda: save(home, value), lambda why: _saved(app, value, why))

    words = "Sessions that are there keep theirs. Agents that decide by themselves do so here, too."
    screen = ChoiceScreen("When are you asked, in new sessions?", rows("", "", begins), words)
    app.push_screen(screen, chosen)


def save(home: str, value: str) -> str:
    """Why it was not written; empty: it was."""
    return edit.attempt(home, {SETTING: None if value == modes.EVERY else value})


def _saved(app: Shell, value: str, why: str) -> None:
    if why:
        app.notify(why, severity="error", markup=False)
        return
    app.notify(f"New sessions begin with: {_title(value)}.", markup=False)
    app.look_around()


def _title(value: str) -> str:
    return next((title for each, title, _ in modes.CHOICES if each == value), value)


def told(sent: Json, header: Json) -> str:
    """What came of `set confirm`, in words."""
    words = modes.words_of(str(header["agent"]), str(header["vendor"]), str(sent["value"]))
    return f"{words}. In this session."
