"""Rewinding the session that is shown."""

from rookery.core.json import Json, lenient
from rookery.core.refusals import Refused
from rookery.core.turn.rewind_preview import LOOK_AGAIN, Preview, from_json, place
from rookery.forms.lists import Row
from rookery.render.local_time import day_and_time
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen
from rookery.tui.windows.rewind import RewindScreen, command, is_moot

UNDO = "undo"


def choose(app: Shell) -> None:
    """Choose from the list of the session's turns, newest first."""
    session = app.session
    if not session:
        app.notify("Nothing to rewind yet.", severity="warning")
        return
    rookery = app.reader.rookery

    def read() -> list[Json]:
        return list(rookery.call("rewinds", session)["turns"])

    app.reader.fetch(read, lambda turns: _ask(app, session, turns))


def _ask(app: Shell, session: str, turns: list[Json]) -> None:
    rows = [_row(turn) for turn in reversed(turns) if not turn["hidden"]]
    if app.window.header.rewound:
        rows = [Row(UNDO, "Undo the last rewind"), *rows]
    hint = "Shows what would change in the files and the conversation, and asks."
    screen = ChoiceScreen("Rewind to", rows, hint)
    app.ask(screen, lambda name: rewind_to(app, name) if app.session == session else None)


def _row(turn: Json) -> Row:
    title = lenient.text(turn, "prompt") or "the beginning"
    at = day_and_time(turn["at"])
    why = ", passed over" if turn.get("passed") else ""
    note = at if turn["files"] else f"{at}, conversation only{why}"
    return Row(str(turn["turn"]), f"{turn['turn']}  {title[:60]}", note)


def rewind_to(app: Shell, given: str) -> None:
    if given == UNDO or given.isdecimal():
        show(app, None if given == UNDO else int(given))
    else:
        app.notify("Give the number of a turn, or undo: /rewind 3", severity="warning")


def show(app: Shell, turn: int | None, again: str = "") -> None:
    """Show what a rewind to a turn would do (None: to undo the last one), before it is done.
    `again`: why it is shown once more."""
    session, rookery = app.session, app.reader.rookery

    def look() -> Preview | str:
        try:
            asked: Json = {} if turn is None else {"turn": turn}
            return from_json(rookery.call("rewind-preview", session, **asked))
        except Refused as error:
            return error.sentences

    def looked(outcome: Preview | str) -> None:
        if isinstance(outcome, str):
            app.notify(outcome, severity="warning", markup=False)
        elif is_moot(outcome):
            text = f"Nothing would change: this is how it was after {place(outcome)}."
            app.notify(text, severity="warning", markup=False)
        elif app.session == session:
            preview = outcome
            app.ask(
                RewindScreen(preview, again), lambda way: app.send(command(preview, way), session)
            )

    if session:
        app.reader.fetch(look, looked)
    else:
        app.notify("Nothing to rewind yet.", severity="warning")


def changed(app: Shell, command: Json, problem: str) -> bool:
    """Tell whether a rewind was refused because files changed since it was shown; if so, show it
    again."""
    if command["do"] != "rewind" or problem != LOOK_AGAIN:
        return False
    show(app, None if command.get("undo") is True else int(command["turn"]), problem)
    return True
