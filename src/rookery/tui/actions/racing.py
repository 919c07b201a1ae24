"""Races: the same prompt to several agents, compared, one picked; and merging a single worktree."""

from collections.abc import Callable, Sequence
from typing import Any

from rookery.core import units
from rookery.core.header import EMPTY
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.view.states import label_of
from rookery.forms.lists import Row
from rookery.operations.merging import race as races
from rookery.operations.merging.entry import Entry, enter
from rookery.render.runs import clean_line
from rookery.tui.actions.working import perform
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen
from rookery.tui.windows.parts.modals import LineScreen

DROP = "drop"
WAYS = {
    "open": ("Open it", ""),
    "merge": ("Pick it", "merge its branch, drop the rest"),
    "squash": ("Pick it as one commit", "squash, drop the rest"),
    "apply": ("Pick its files", "apply them without a commit, drop the rest"),
}
USAGE = "Name the agents, separated by commas, then the task: /race claude,codex Fix the login."


def race(app: Shell, given: str) -> None:
    """Start a race, or compare the latest one; that of the shown session first."""
    agents, _, task = given.partition(" ")
    names = [name for name in agents.split(",") if name]
    if given and (not task.strip() or not names):
        app.notify(USAGE, severity="warning", markup=False)
    elif given:
        _start(app, names, task.strip())
    else:
        _compare(app, str(app.window.header.race or "") if app.session else "")


# --- started -------------------------------------------------------------------------------------


def _start(app: Shell, names: list[str], task: str) -> None:
    rookery, cwd = app.reader.rookery, app.start.cwd
    confirm, name = app.start.confirms(""), races.new_name()
    header = app.window.header if app.session else EMPTY
    tree = header.worktree or {}
    cwd = str(tree.get("origin") or header.cwd or cwd)

    def create(agent: str, label: str) -> Callable[[], str]:
        def made() -> str:
            given: dict[str, Any] = {"agent": agent, "cwd": cwd, "confirm": confirm}
            given["sandbox"] = app.start.sandbox
            return rookery.create(**given, worktree=f"{name}-{label}", race=name)

        return made

    async def start() -> list["Entry"]:
        pairs = zip(names, races.labels(names), strict=True)
        return [
            await enter(rookery, agent, task, create(agent, label), label=label)
            for agent, label in pairs
        ]

    def begun(entries: list["Entry"]) -> None:
        app.reader.glance()
        for entry in entries:
            if entry.why:
                text = f"Skipping {entry.agent}: {entry.why}"
                app.notify(clean_line(text, 300), severity="warning", markup=False)
        running = [entry for entry in entries if entry.session]
        if running:
            app.open_session(running[0].session)
            text = f"Started {count(len(running), 'agent')}. /race compares them."
            app.notify(text, markup=False)

    app.reader.run(start, begun)


# --- compared ------------------------------------------------------------------------------------


def _compare(app: Shell, name: str) -> None:
    perform(app, "race", "", lambda reply: _show(app, reply["id"], reply["sessions"]), race=name)


def _show(app: Shell, name: str, runners: Sequence[Json]) -> None:
    rows = [Row(each["session"], clean_line(each["agent"]), summary(each)) for each in runners]
    if any(each["files"] is not None for each in runners):
        rows.append(Row(DROP, "Drop all", "delete the worktrees, archive the sessions"))
    known = {each["session"]: each for each in runners}
    screen = ChoiceScreen(f"Race {name}", rows, "Enter to open or pick one.")
    app.ask(screen, lambda chosen: _chosen(app, name, known.get(chosen)))


def summary(runner: Json) -> str:
    parts = [label_of(runner["state"])]
    if runner["files"] == 0:
        parts.append("changed nothing")
    elif runner["files"] is not None:
        parts.append(f"{count(runner['files'], 'file')} +{runner['added']} −{runner['removed']}")
    parts += [f"tests {runner['tests']}"] if runner["tests"] else []
    for currency, amount in runner["cost"].items():
        parts.append(units.money(amount) if currency == "USD" else f"{amount:.2f} {currency}")
    parts += [f"{units.tokens(runner['tokens'])} tokens"] if runner["tokens"] else []
    parts += [units.duration(runner["seconds"])] if runner["seconds"] else []
    return " · ".join(parts)


def _chosen(app: Shell, name: str, runner: Json | None) -> None:
    if runner is None:
        perform(app, "drop-race", race=name)
    elif runner["files"] is None:
        app.open_session(runner["session"])
    else:
        ways = [Row(key, *texts) for key, texts in WAYS.items() if runner["files"] or key == "open"]
        screen = ChoiceScreen(clean_line(runner["agent"]), ways, summary(runner))
        app.ask(screen, lambda way: _decided(app, runner["session"], way))


def _decided(app: Shell, session: str, way: str) -> None:
    if way == "open":
        app.open_session(session)
        return

    def pick(_shown: str, message: str) -> None:
        perform(app, "pick", session, how=way, message=message)

    _ask_message(app, session, way, "merge it, drop the rest", pick)


# --- moved, merged --------------------------------------------------------------------------------


def move(app: Shell, session: str, **given: Any) -> None:
    """Move a session to a worktree of its own; a turn that runs is cancelled, if the user
    agrees."""
    listed = [each["status"] for each in app.fleet.sessions if each["id"] == session]
    shown = [app.window.header.state] if app.session == session else []
    running = not {"running", "needs-you"}.isdisjoint([*listed, *shown])

    def moved(reply: Json) -> None:
        app.notify(clean_line(reply["summary"], 300), markup=False)
        if app.session == session:
            app.open_session(session)

    def agreed(answer: str) -> None:
        if answer == "yes":
            cancel = {"cancel": True} if running else {}
            perform(app, "move", session, moved, **(given | cancel))

    hint = "It goes on in a git worktree, with copies of the files that it changed."
    verb = "Cancel the turn and move" if running else "Move it"
    rows = [Row("yes", verb), Row("no", "Stay here")]
    app.ask(ChoiceScreen("Move this session to a worktree?", rows, hint), agreed)


def merge(app: Shell, session: str, how: str = "merge", message: str = "", **given: Any) -> None:
    """Merge a session's worktree, after the user has read the commit message."""

    def agreed(fingerprint: str, written: str) -> None:
        given["message"] = message or written
        perform(app, "merge", session, how=how, fingerprint=fingerprint, **given)

    _ask_message(app, session, how, "merge", agreed)


def _ask_message(
    app: Shell, session: str, how: str, verb: str, then: Callable[[str, str], object]
) -> None:
    """Show the message of the commit that would be made, to be taken or rewritten. `then` gets the
    fingerprint of what was shown, and the text that was written."""

    def planned(plan: Json) -> None:
        if plan["resolution"]:
            _offer_resolution(app, session, plan)
            return
        subject, _, more = str(plan["message"]).partition("\n")
        if not subject or plan["in_the_way"]:
            then(plan["fingerprint"], "")  # no commit is made, or why it cannot be is said
            return
        size = f"{count(plan['files'], 'file')}, +{plan['added']} −{plan['removed']}"
        listed = " The list of files follows it." if more.strip() else ""
        title = clean_line(f"{size}, into {plan['into']}. Commit message:{listed}", 200)

        def written(text: str) -> None:
            same = text.strip() == subject
            then(plan["fingerprint"], "" if same else text.strip())

        app.ask(LineScreen(title, subject, verb=verb), written)

    perform(app, "merge-plan", session, planned, how=how)


def _offer_resolution(app: Shell, session: str, plan: Json) -> None:
    """Offer to have the agent resolve conflicts in its own worktree."""

    def chosen(answer: str) -> None:
        if answer == "yes":
            prompt = [{"type": "text", "text": plan["resolution"]}]
            app.send({"do": "prompt", "prompt": prompt}, session)
            app.notify("Merge again when the agent has resolved it.", markup=False)

    named = ", ".join(plan["conflicts"][:5])
    text = clean_line(f"Conflict with {plan['into']}: {named}. Nothing was changed.", 300)
    rows = [Row("yes", "Have the agent resolve it", "in its worktree"), Row("no", "Not now")]
    app.ask(ChoiceScreen("The work conflicts", rows, text), chosen)
