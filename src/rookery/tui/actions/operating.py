"""Operations of the catalogue, started by a slash command, the palette, a key of the session list
or the menu of a session."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from rookery.core.json import Json
from rookery.forms.form import complaint, typed
from rookery.forms.lists import Row as Line
from rookery.operations.catalogue import conditions, filling
from rookery.operations.catalogue.finding import every, find, row_of
from rookery.operations.catalogue.row import Row
from rookery.render.runs import clean_line
from rookery.tui.actions import racing, restoring
from rookery.tui.actions.working import heading, perform, titled
from rookery.tui.shell import Shell
from rookery.tui.system.clock import now
from rookery.tui.windows.choice import ChoiceScreen
from rookery.tui.windows.parts.form import FormScreen
from rookery.tui.windows.parts.modals import SureScreen

RUNNING = ("running", "needs-you")
"""States of a line of the list in which a turn runs."""


def _worktree(app: Shell, name: str, session: str, **given: Any) -> None:
    (racing.merge if name == "merge" else racing.move)(app, session, **given)


def _remove(app: Shell, _name: str, session: str, **_given: Any) -> None:
    restoring.ask_to_delete(app, session, titled(app, session))


def _fork(app: Shell, name: str, session: str, **given: Any) -> None:
    perform(app, name, session, lambda made: app.open_session(str(made["id"])), **given)


OWN: dict[str, Callable[..., None]] = {
    "fork": _fork,
    "merge": _worktree,
    "move": _worktree,
    "remove": _remove,
}
"""Those that are asked for in a window of their own, or lead elsewhere."""


def operate(app: Shell, name: str, about: Json, text: str = "") -> None:
    """Carry out an operation that was typed as a slash command, on a session, from what its header
    says of it. `about`: empty if no session is shown. `text`: its arguments; missing ones are asked
    for in a form."""
    row = row_of(name)
    fields = filling.form_of(row)["properties"]
    values = filling.words_in(row, text)
    answers = {each: typed(fields[each], values[each]) for each in values}
    _take(app, row, about, answers)


def choose(app: Shell, name: str, about: Json) -> None:
    """Carry out the operation of a key on a session of the list."""
    _begin(app, row_of(name), about, {})


def _facts(about: Json) -> dict[str, bool]:
    """Return the facts about a session of the list on which operations depend."""
    awake, running = about.get("status") != "asleep", about.get("status") in RUNNING
    return conditions.facts({"awake": awake, **about}, now()) | {"running": running}


def _begin(app: Shell, row: Row, about: Json, answers: Json) -> None:
    """Ask first if it costs something: a key or a menu line is easily hit by mistake."""
    warning = conditions.warning(row, _facts(about))
    if not warning:
        _take(app, row, about, answers)
        return

    screen = SureScreen(f"{heading(app, row, str(about['id']))}?", warning)
    app.ask(screen, lambda _: _take(app, row, about, answers))


def _take(app: Shell, row: Row, about: Json, answers: Json) -> None:
    given = filling.filled(row, answers, datetime.now().astimezone())
    missing = [each for each in row.schema["required"] if each not in answers]
    if missing:
        _ask(app, row, about, answers)
    elif given.wrong:
        name, why = next(iter(given.wrong.items()))
        text = complaint(name, row.schema["properties"][name], why)
        app.notify(f"{text}.", severity="warning", markup=False)
    elif (refusal := row.check(given.arguments)) is not None:
        app.notify(refusal.message, severity="warning", markup=False)
    elif row.is_sent:
        app.send(row.command(given.arguments), str(about["id"]))
    else:
        session = str(about["id"]) if row.on_session else ""
        carry_out: Callable[..., None] = OWN.get(row.name, perform)
        carry_out(app, row.name, session, **given.arguments)


def _ask(app: Shell, row: Row, about: Json, answers: Json) -> None:
    known = {"title": about["title"], **answers} if "title" in row.schema["properties"] else answers
    screen = FormScreen(heading(app, row, str(about.get("id"))), filling.form_of(row), known)
    app.ask(screen, lambda given: _take(app, row, about, given))


def report_done(app: Shell, command: Json, session: str) -> None:
    """Report what a command did, if the screen does not show it."""
    row = find(command["do"])
    if row is None:
        return
    app.reader.glance()
    if not row.traits.done:
        return
    listed = [each["title"] for each in app.fleet.sessions if each["id"] == session]
    title = f"“{clean_line(listed[0], 60)}”" if listed else session
    sentence = filling.confirmation(row, row.given(command), title, datetime.now().astimezone())
    app.notify(sentence, markup=False)


def menu(app: Shell, about: Json) -> None:
    """Show what can be done with a session, in a window."""
    known = _facts(about)
    choices, acts = list[Line](), dict[str, tuple[Row, Json]]()
    for row in every():
        if not row.traits.listed or not row.on_session or not conditions.holds(row, known):
            continue
        entries = [(each.title, each.more, dict(each.given)) for each in row.traits.presets]
        for title, more, given in [*entries, (row.traits.title, row.more, {})]:
            acts[title] = (row, given)
            choices.append(Line(title, title, more))
    screen = ChoiceScreen(clean_line(str(about["title"]), 60), choices)
    app.ask(screen, lambda title: _begin(app, acts[title][0], about, acts[title][1]))
