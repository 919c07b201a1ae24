"""Carrying out our own slash commands."""

from rookery.core.json import Json
from rookery.core.policy import approvals, modes
from rookery.core.settings.sandbox import CHOICES, KINDS, NONE
from rookery.forms.lists import Row
from rookery.tui import actions
from rookery.tui.actions import importing, racing, restoring
from rookery.tui.actions.operating import operate
from rookery.tui.look.themes import themes
from rookery.tui.shell import Shell
from rookery.tui.widgets.composer import Composer
from rookery.tui.windows.choice import ChoiceScreen, marked
from rookery.tui.writing.commands import Command


def carry_out(app: Shell, command: Command, rest: str) -> None:
    name = command.name
    if command.action and not (rest and command.hint):
        _act(app, command.action)
    elif name == "attach" and rest:
        app.composer.post_message(Composer.Dropped([rest], ""))
    elif name in ("attach", "paste"):
        app.composer.action_want(name)
    elif name == "search":
        _act(app, f"search_all({rest!r})")
    elif name == "theme":
        _theme(app, rest)
    elif name == "confirm":
        _confirm(app, rest)
    elif name == "worktree":
        _worktree(app, rest)
    elif name == "sandbox":
        _sandbox(app, rest)
    elif name == "import":
        importing.choose(app, rest)
    elif name == "restore":
        restoring.restore(app, rest)
    elif name == "race":
        racing.race(app, rest)
    elif not app.session and command.operates != "rookery":
        app.notify(f"/{name} needs a session: your first prompt starts one.", severity="warning")
    elif command.operates:
        header = app.window.header
        about = {"id": header.id, "title": header.title} if app.session else {}
        operate(app, name, about, rest)
    else:
        _tell_session(app, name, rest)


def _act(app: Shell, action: str) -> None:
    app.call_later(app.run_action, f"app.{action}")


def _tell_session(app: Shell, name: str, rest: str) -> None:
    match name:
        case "recap":
            _act(app, "recap")
        case "export":
            _act(app, f"export({rest!r})")
        case "rewind":
            actions.going_back.rewind_to(app, rest)
        case "agent":
            app.send({"do": "switch", "agent": rest})
        case "model" | "mode" | "effort":
            app.send({"do": "set", "option": name, "value": rest})
        case _:
            app.send({"do": name})


def _worktree(app: Shell, name: str) -> None:
    app.start.worktree = name
    if app.session:
        _act(app, "new")
    app.notify("The next session works in a git worktree of its own.", markup=False)


def _sandbox(app: Shell, kind: str) -> None:
    """Set the sandbox of the next session: an existing one keeps its own."""
    if not kind:
        rows = [marked(Row(*each), each[0] == app.start.sandbox) for each in CHOICES]
        app.ask(ChoiceScreen("Sandbox of the new session", rows), lambda it: _sandbox(app, it))
        return
    if kind not in KINDS:
        app.notify(f"Choose one of: {', '.join(KINDS)}.", severity="warning", markup=False)
        return
    app.start.sandbox = kind
    if app.session:
        _act(app, "new")
    where = "without a sandbox" if kind == NONE else f"in a sandbox ({kind})"
    app.notify(f"The next session runs {where}.", markup=False)


def _confirm(app: Shell, given: str) -> None:
    """Set how much is asked; before the first prompt, for the session that it starts."""
    value = approvals.id_of(given)
    if value is None:
        text = f"Choose one of: {', '.join(approvals.WORDS.values())}."
        app.notify(text, severity="warning", markup=False)
    elif app.session:
        app.send(choice(value))
        app.notify(f"From now on: {named(value)}, in this session.", markup=False)
    else:
        app.start.once = value
        app.notify(f"The next session: {named(value)}.", markup=False)


def choice(value: str) -> Json:
    return {"do": "set", "option": modes.OPTION, "value": value}


def named(value: str) -> str:
    return approvals.WORDS[value]


def _theme(app: Shell, wanted: str) -> None:
    names = [theme.name for theme in themes()]
    matches = [name for name in names if wanted.lower() in name]
    if not matches:
        short = ", ".join(name.removeprefix("rookery-") for name in names)
        app.notify(f"Themes: {short}.", severity="warning", markup=False)
        return
    app.theme = matches[0]
    app.transcript.settle()
