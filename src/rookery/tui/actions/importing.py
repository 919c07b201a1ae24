"""`/import`: sessions that were begun with an agent elsewhere, from its own list."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rookery.core.refusals import Refused, sentences
from rookery.forms.lists import Row
from rookery.tui.look.runs import clean_line
from rookery.tui.shell import Shell

if TYPE_CHECKING:
    from rookery.client.imports.importing import Found
    from rookery.operations.calling.imports import Source

STATES = {"here": "already imported", "trashed": "in the trash", "no_directory": "no directory"}
MOST = 200
"""Rows of the list."""


def choose(app: Shell, given: str) -> None:
    """`given`: the agent; else that of the shown session, or of the next one."""
    shown = str(app.window.header.get("agent") or "") if app.session else ""
    agent = given or shown or app.start.agent
    if not agent:
        app.notify("Name an agent: /import claude", severity="warning")
        return
    header = app.window.header if app.session else {}
    tree = header.get("worktree") or {}  # its sessions are elsewhere
    cwd = str(tree.get("origin") or header.get("cwd") or "")
    app.notify(f"Asking {agent} for its sessions …", markup=False)

    async def find(source: "Source") -> "list[Found]":
        return await source.find(cwd or ("" if app.start.address else app.start.cwd))

    _with(app, agent, cwd, find, lambda found: _ask(app, agent, found))


def _with[Got](
    app: Shell,
    agent: str,
    cwd: str,
    work: "Callable[[Source], Awaitable[Got]]",
    then: Callable[[Got], object],
) -> None:
    """In the reader's thread; why it cannot be done is shown."""

    async def run() -> tuple[Got | None, str]:
        from rookery.operations.calling import imports as anywhere

        try:
            source = anywhere.source(app.reader.rookery, agent, cwd)
            try:
                return await work(source), ""
            finally:
                await source.rest()
        except (Refused, OSError) as error:
            return None, sentences(error)

    def done(found: tuple[Got | None, str]) -> None:
        got, why = found
        if got is None:
            app.notify(clean_line(why, 300), severity="warning", markup=False)
        else:
            then(got)

    app.reader.run(run, done)


def _ask(app: Shell, agent: str, found: "list[Found]") -> None:
    from rookery.tui.windows.choice import ChoiceScreen

    if not found:
        app.notify(f"{clean_line(agent)} has no sessions in this directory.", severity="warning")
        return
    rows = [
        Row(
            each.session.id,
            clean_line(each.session.title or each.session.id, 60),
            STATES.get(each.state) or clean_line(each.session.updated[:16]),
        )
        for each in found[:MOST]
    ]
    known = {each.session.id: each for each in found}
    more = f"The latest {MOST} of {len(found):,}. For an older one: rookery import --session ID"
    words = more if len(found) > MOST else ""
    screen = ChoiceScreen(f"Import from {clean_line(agent)}", rows, words)
    app.ask(screen, lambda name: _bring(app, agent, known[name]))


def _bring(app: Shell, agent: str, wanted: "Found") -> None:
    if wanted.state == "here":
        app.open_session(wanted.here)
        return

    async def bring(source: "Source") -> "Found":
        [found] = await source.bring([wanted.session], removed=True)
        return found

    def brought(found: "Found") -> None:
        if not found.here or found.state == "trashed":
            app.notify(clean_line(found.why_not(), 300), severity="warning", markup=False)
            return
        app.reader.glance()
        app.open_session(found.here)

    _with(app, agent, wanted.session.cwd, bring, brought)
