"""`uninstall`: shows what Rookery stores and removes it on request; projects are never touched."""

import os
import re
import shutil
from contextlib import suppress

import click

from rookery.cli import flags
from rookery.cli.commands.other.installation import Package, completions, package
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.session.send import send
from rookery.client import fleet, warm_agent
from rookery.client.fleet import heads, kill
from rookery.client.liveness import hung
from rookery.core import units
from rookery.core.json.events import Json, dumps
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import state_of
from rookery.home import paths

SESSIONS = "sessions"

OURS = {
    SESSIONS: "sessions",
    "config.toml": "settings",
    "config.toml.rejected": "settings that could not be used",
    "config.lock": "lock for changes to the settings",
    "confirmed.json": "the settings that you confirmed",
    "choices.json": "your last choices",
    "mcp.json": "MCP servers",
    "agent-versions.json": "versions of installed agents",
    "agent_settings.json": "models and keys",
    "hooks.json": "hooks",
    "prompts.jsonl": "your prompt history",
    "feedback.jsonl": "your feedback on the critic",
    "conversations": "conversations of Rookery's own agent",
    "sdk": "data of its SDK",
    "player": "sessions of the demo agent",
    "run": "sockets",
    "slots": "worker slots",
    "scratch": "temporary folders",
    "places": "which session works in which directory",
    "cache": "a cache",
    "crash.log": "error tracebacks",
}
"""What Rookery puts into its home. All else in there is somebody else's, and stays."""

READ = frozenset({"skills"})
"""What it only reads there: the user's own work, which stays."""


@click.command()
@click.option("--keep-sessions", is_flag=True, help="Remove everything except the sessions.")
@flags.yes
@flags.as_json("Print JSON.")
def uninstall(keep_sessions: bool, yes: bool, as_json: bool) -> None:
    """Show what Rookery stores and what is running, then remove the data.

    Workers are stopped first. The package itself must be removed by the program that installed
    it; that command is printed. Your projects, and changes agents made in them, are not touched.

    \b
    rookery uninstall
    rookery uninstall --keep-sessions --yes
    """
    screen, home = standard(), paths.home()
    known = heads(home)
    mine, others = _contents(home, keep_sessions=keep_sessions)
    how, shells = package(), completions()
    if as_json:
        screen.line(dumps(_told(home, known, mine, others, how, shells)))
    else:
        _write(screen, home, known, others, how, shells, keep_sessions=keep_sessions)
    what = "everything except" if keep_sessions else "everything, including"
    if not mine:
        screen.note("There is no data to remove.")
    elif yes or flags.confirmed(
        screen, f"Permanently remove {what} the sessions?", "removed", as_json=as_json
    ):
        _end_workers(screen, home, known)
        _remove(home, mine, known, keep_sessions=keep_sessions)
        screen.note("Removed." + (" The sessions are kept." if keep_sessions else ""))
        for place in shells:
            screen.note(f"Remove this from your shell's files: {paths.with_tilde(place)}")
    else:
        return
    if how.command and not as_json:
        screen.note(f"The program itself: {how.command}")


def _contents(home: str, *, keep_sessions: bool) -> tuple[list[str], list[str]]:
    """What would be removed, and what is not ours."""
    try:
        names = sorted(os.listdir(home))
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    mine = [name for name in names if _is_ours(name)]
    others = [name for name in names if name not in mine]
    return [name for name in mine if name != SESSIONS or not keep_sessions], others


def _is_ours(name: str) -> bool:
    """Also what a write that was cut off has left."""
    whole = re.sub(r"\.\d+\.[0-9a-f]+\.tmp$", "", name)
    return whole in OURS


def _told(
    home: str,
    known: list[Json],
    mine: list[str],
    others: list[str],
    how: Package,
    shells: list[str],
) -> Json:
    return {
        "home": home,
        "bytes": fleet.size_of(home),
        "sessions": len(known),
        "awake": [head["id"] for head in known if head["awake"]],
        "removes": mine,
        "leaves": others,
        "sockets": paths.socket_directory(home),
        "completions": shells,
        "package": how._asdict(),
    }


# ---------------------------------------------------------------- look


def _write(
    screen: Screen,
    home: str,
    known: list[Json],
    others: list[str],
    how: Package,
    shells: list[str],
    *,
    keep_sessions: bool,
) -> None:
    def row(label: str, words: str) -> None:
        screen.line(f"{label:<12} {words}")

    if os.path.isdir(home):
        row("Home", f"{paths.with_tilde(home)} · {units.size(fleet.size_of(home))}")
    else:
        row("Home", f"{paths.with_tilde(home)} does not exist")
    for name, meaning in OURS.items():
        place = os.path.join(home, name)
        if name == SESSIONS and known:
            words = f"{count(len(known), 'session')} · {units.size(fleet.size_of(place))}"
            row("", f"{words} · kept" if keep_sessions else words)
        elif name != SESSIONS and os.path.lexists(place):
            row("", f"{name} · {meaning}")
    if others:
        row("", f"not Rookery's, kept: {clean_line(', '.join(others))}")
    row("Sockets", paths.with_tilde(paths.socket_directory(home)))
    awake = [head for head in known if head["awake"]]
    runs = [f"{head['id']} ({state_of(head, awake=True)})" for head in awake]
    row("Running", ", ".join(runs) or "nothing")
    for number, place in enumerate(shells):
        row("" if number else "Completions", paths.with_tilde(place))
    row("Program", f"{paths.with_tilde(how.place)} · {how.how}")
    if how.command:
        row("", f"to remove it: {how.command}")
    row("Untouched", "your projects, and changes agents made in them")


# ---------------------------------------------------------------- the end


def _end_workers(screen: Screen, home: str, known: list[Json]) -> None:
    """Those that answer are asked to stop; whoever is still there then is ended."""
    awake = [head["id"] for head in known if head["awake"]]
    silent = hung(home, awake)
    for session in awake:
        screen.status(f"stopping {session}")
        if session not in silent:
            send(session, {"do": "stop"})
        kill(home, session)
    warm_agent.end(home)


def _remove(home: str, mine: list[str], known: list[Json], *, keep_sessions: bool) -> None:
    for head in known:
        with suppress(OSError, paths.PathError):
            os.unlink(paths.socket_path(paths.session_dir(home, head["id"])))
    for name in mine:
        place = os.path.join(home, name)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
        else:
            os.unlink(place)
    with suppress(OSError):  # of other homes, too: the last one takes it away
        os.rmdir(paths.socket_directory(home))
    if not keep_sessions:
        with suppress(OSError):  # what is not ours keeps it
            os.rmdir(home)
