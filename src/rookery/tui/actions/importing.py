"""`/import`: sessions that were begun with an agent elsewhere, from its own list."""

from rookery.core.header import EMPTY
from rookery.core.json import Json
from rookery.forms.lists import Row
from rookery.render.runs import clean_line
from rookery.tui.actions.working import perform
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen

STATES = {"here": "already imported", "trashed": "in the trash", "no_directory": "no directory"}
MAX_ROWS = 200
"""Rows of the list."""


def choose(app: Shell, given: str) -> None:
    """Choose a session to import. `given`: the agent; else that of the shown session, or of the
    next one."""
    shown = str(app.window.header.agent or "") if app.session else ""
    agent = given or shown or app.start.agent
    if not agent:
        app.notify("Name an agent: /import claude", severity="warning")
        return
    header = app.window.header if app.session else EMPTY
    tree = header.worktree or {}  # its sessions are elsewhere
    cwd = str(tree.get("origin") or header.cwd or "")
    place = cwd or ("" if app.start.address else app.start.cwd)

    def ask(reply: Json) -> None:
        for failure in reply["failed"]:
            app.notify(clean_line(failure, 300), severity="warning", markup=False)
        _ask(app, agent, reply["sessions"])

    perform(app, "importable", then=ask, agent=agent, directory=place)


def _ask(app: Shell, agent: str, sessions: list[Json]) -> None:
    if not sessions:
        app.notify(f"{clean_line(agent)} has no sessions in this directory.", severity="warning")
        return
    rows = [
        Row(
            each["id"],
            clean_line(each["title"] or each["id"], 60),
            STATES.get(each["state"]) or clean_line(each["updated"][:16]),
        )
        for each in sessions[:MAX_ROWS]
    ]
    known = {each["id"]: each for each in sessions}
    more = (
        f"The latest {MAX_ROWS} of {len(sessions):,}. For an older one: rookery import --session ID"
    )
    hint = more if len(sessions) > MAX_ROWS else ""
    screen = ChoiceScreen(f"Import from {clean_line(agent)}", rows, hint)
    app.ask(screen, lambda name: _bring(app, known[name]))


def _bring(app: Shell, wanted: Json) -> None:
    if wanted["state"] == "here":
        app.open_session(wanted["here"])
        return

    def brought(reply: Json) -> None:
        for each in reply["sessions"]:
            if each["state"] in ("new", "here"):
                app.open_session(each["here"])
            else:
                app.notify(clean_line(each["why"], 300), severity="warning", markup=False)

    about = {"agent": wanted["agent"], "directory": wanted["cwd"], "ids": [wanted["id"]]}
    perform(app, "import", then=brought, removed=True, **about)
