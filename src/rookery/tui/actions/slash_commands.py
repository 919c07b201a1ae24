"""What our slash commands do. Each does it at once; what it lacks, it says."""

from typing import Protocol

from rookery.core.json.events import Json
from rookery.core.policy import modes
from rookery.tui.look.themes import themes
from rookery.tui.shell import Shell
from rookery.tui.writing.commands import Command


class Helps(Protocol):
    """What the desk does for a command."""

    def ask_file(self) -> None: ...

    def attach(self, *paths: str) -> None: ...

    def paste(self) -> None: ...

    def recap(self) -> None: ...


ACTIONS = {
    "agents": "agents",
    "help": "keys",
    "mcp": "servers",
    "new": "new",
    "quit": "quit",
    "settings": "settings",
}
"""Commands that are a key's action."""

FORMS = {
    "agent": "agents",
    "confirm": "confirm_mode",
    "model": "pick('model')",
    "mode": "pick('mode')",
    "effort": "pick('effort')",
    "theme": "theme",
}
"""What they open where nothing stands behind them."""

OF_A_SESSION = frozenset({"agent", "clear", "confirm", "effort", "mode", "model"}) | {
    "recap",
    "rename",
    "stop",
}


def carry_out(app: Shell, desk: Helps, command: Command, rest: str) -> None:
    name = command.name
    if name in ACTIONS:
        _act(app, ACTIONS[name])
    elif name == "attach":
        if rest:
            desk.attach(rest)
        else:
            desk.ask_file()
    elif name == "paste":
        desk.paste()
    elif name == "theme" and rest:
        _theme(app, rest)
    elif name in FORMS and not rest:
        _act(app, FORMS[name])
    elif name == "confirm" and not app.session:
        _confirm_first(app, rest)
    elif name in OF_A_SESSION and not app.session:
        app.notify(f"/{name} needs a session: the first prompt makes one.", severity="warning")
    else:
        _tell_session(app, desk, name, rest)


def _act(app: Shell, action: str) -> None:
    """By its name: the window may be somebody else's."""
    if hasattr(app, f"action_{action.partition('(')[0]}"):
        app.call_later(app.run_action, f"app.{action}")
    else:
        app.notify("That window is not here; rookery --help lists the same as commands.")


def _tell_session(app: Shell, desk: Helps, name: str, rest: str) -> None:
    match name:
        case "recap":
            desk.recap()
        case "rename" if not rest:
            _ask_title(app)
        case "rename":
            app.send({"do": "rename", "title": rest})
        case "agent":
            app.send({"do": "switch", "agent": rest})
        case "confirm":
            _confirm(app, rest)
        case "model" | "mode" | "effort":
            app.send({"do": "set", "option": name, "value": rest})
            app.notify(f"{name}: {rest}", markup=False, timeout=3)
        case _:
            app.send({"do": name})


def _ask_title(app: Shell) -> None:
    from rookery.tui.windows.parts.modals import LineScreen

    def rename(title: str | None) -> None:
        if title and title.strip():
            app.send({"do": "rename", "title": title.strip()})

    screen = LineScreen("A title for this session", app.window.header["title"])
    app.push_screen(screen, rename)


def _confirm(app: Shell, given: str) -> None:
    if value := _meant(app, given):
        app.send(choice(value))
        app.notify(f"From now on: {named(value)}, in this session.", markup=False)


def _confirm_first(app: Shell, given: str) -> None:
    """Before the first prompt: the session that it makes begins so."""
    if value := _meant(app, given):
        app.start.once = value
        app.notify(f"The session that you begin: {named(value)}.", markup=False)


def _meant(app: Shell, given: str) -> str | None:
    value = modes.value_of(given)
    if value is None:
        words = f"/confirm takes {', '.join(modes.VALUES)}."
        app.notify(words, severity="warning", markup=False)
    return value


def choice(value: str) -> Json:
    return {"do": "set", "option": modes.OPTION, "value": value}


def named(value: str) -> str:
    return next(words for ours, words, _ in modes.CHOICES if ours == value).lower()


def _theme(app: Shell, wanted: str) -> None:
    names = [theme.name for theme in themes()]
    found = [name for name in names if wanted.lower() in name]
    if not found:
        short = ", ".join(name.removeprefix("rookery-") for name in names)
        app.notify(f"There are: {short}.", severity="warning", markup=False)
        return
    app.theme = found[0]
    app.transcript.settle()
