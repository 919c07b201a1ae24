"""Deleting a session, and bringing it back from the trash."""

from rookery.core import units
from rookery.core.json import Json
from rookery.core.refusals import Refused, sentences
from rookery.core.view.fleet import NO_TITLE
from rookery.forms.lists import Row
from rookery.render.local_time import day_of
from rookery.render.runs import clean_line
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen
from rookery.tui.windows.parts.modals import SureScreen

DELETED = "It goes to the trash: U in the list, or /restore, brings it back, for 14 days."
UNMERGED = "Its worktree and branch go to the trash with it; U or /restore brings them back."


def ask_to_delete(app: Shell, session: str, title: str) -> None:
    app.ask(SureScreen(f"Delete “{title}”?", DELETED), lambda _: _delete(app, session, title))


def _delete(app: Shell, session: str, title: str, *, force: bool = False) -> None:
    rookery = app.reader.rookery

    def remove() -> tuple[str, str]:
        """Return why it was not deleted, as a text and by name; both are "" if it was."""
        try:
            rookery.call("remove", session, force=force)
        except Refused as error:
            return error.message, error.reason
        except OSError as error:
            return str(error), "failed"
        return "", ""

    def removed(outcome: tuple[str, str]) -> None:
        why, name = outcome
        if name == "unmerged_work" and not force:
            _ask_about_work(app, session, title, why)
        elif name:
            app.notify(f"Not deleted: {why}", severity="error", markup=False)
        else:
            app.notify(f"“{title}” is in the trash. To bring it back: U, or /restore", markup=False)
            if app.session == session:
                app.open_session("")
        app.reader.glance()

    app.reader.fetch(remove, removed)


def _ask_about_work(app: Shell, session: str, title: str, why: str) -> None:
    screen = SureScreen(f"Delete “{title}” with unmerged work?", f"{why} {UNMERGED}")
    app.ask(screen, lambda _: _delete(app, session, title, force=True))


def choose(app: Shell) -> None:
    """Choose from the list of sessions in the trash, newest first."""
    rookery = app.reader.rookery
    app.reader.fetch(lambda: rookery.call("trash")["sessions"], lambda rows: _choose(app, rows))


def _choose(app: Shell, rows: list[Json]) -> None:
    if not rows:
        app.notify("The trash is empty.")
        return
    screen = ChoiceScreen("Restore from the trash", [_row(each) for each in rows])
    app.ask(screen, lambda name: restore(app, name))


def _row(about: Json) -> Row:
    title = clean_line(about["title"], 60) or NO_TITLE
    note = f"{units.size(about['bytes'])}, kept until {day_of(about['until'])}"
    return Row(about["id"], title, note)


def restore(app: Shell, name: str) -> None:
    """Restore a session, by its id or title, and open it."""
    rookery = app.reader.rookery

    def bring_back() -> tuple[str, str]:
        """Return its id, or "" if it was not restored, and a message."""
        try:
            reply = rookery.call("restore", name=name)
            return reply["id"], reply["missing"]
        except (Refused, OSError) as error:
            return "", f"Not restored: {sentences(error)}"

    def restored(outcome: tuple[str, str]) -> None:
        session, text = outcome
        if session:
            app.reader.glance()
            app.open_session(session)
            app.notify(f"Restored. {text}".strip(), markup=False)
        else:
            app.notify(text, severity="warning", markup=False)

    app.reader.fetch(bring_back, restored)
