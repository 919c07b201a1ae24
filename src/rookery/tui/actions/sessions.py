"""Keys of the session list: rename, archive, stop, delete."""

from rookery.core.blocks import Block
from rookery.tui.look.runs import clean_line
from rookery.tui.shell import Shell
from rookery.tui.windows.parts.modals import LineScreen, SureScreen

DELETED = "Its transcript is deleted. Files that agents changed stay."
STOPPED = "Its turn ends now. The next prompt wakes the session."


def act(app: Shell, what: str, block: Block) -> None:
    session, title = str(block["id"]), clean_line(block["title"], 60)
    match what:
        case "rename":
            line = LineScreen("Title of the session", str(block["title"]))
            app.ask(line, lambda title: app.send({"do": "rename", "title": title}, session))
        case "archive":
            app.send({"do": "archive"}, session)
            app.reader.glance()
        case "stop" if block["status"] in ("running", "needs-you"):
            screen = SureScreen(f"Stop “{title}”?", STOPPED)
            app.ask(screen, lambda _: app.send({"do": "stop"}, session))
        case "stop":
            app.send({"do": "stop"}, session)
        case "delete":
            _delete(app, session, title)


def _delete(app: Shell, session: str, title: str) -> None:
    home = app.start.home

    def remove() -> str:
        from rookery.client.fleet import StillAlive
        from rookery.client.fleet import remove as remove_session

        try:
            remove_session(home, session)
        except (OSError, StillAlive) as error:
            return str(error)
        return ""

    def removed(why: str) -> None:
        if why:
            app.notify(f"Not deleted: {why}", severity="error", markup=False)
        app.reader.glance()

    def begin(_: bool) -> None:
        if app.session == session:
            app.open_session("")
        app.reader.fetch(remove, removed)

    app.ask(SureScreen(f"Delete “{title}”?", DELETED), begin)
