"""`uninstall`: shows what Rookery stores and removes it on request; projects are never touched."""

import errno
import os
import re
import shutil
import time
from contextlib import suppress
from typing import NamedTuple

import click

import rookery
from rookery.cli import flags
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.send import send
from rookery.client import fleet, guard, warm_agent
from rookery.client.daemon import local as daemon
from rookery.client.liveness import hung
from rookery.client.trash import branch, store
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.units import size
from rookery.core.view.fleet import state_of
from rookery.daemon.process import lifecycle, units
from rookery.export import files
from rookery.home import paths
from rookery.installation.commands import uninstall_line
from rookery.installation.distribution import running
from rookery.log.errors import LogError

SESSIONS, TRASH, WORKTREES = "sessions", "trash", "worktrees"

OURS = {
    SESSIONS: "sessions",
    TRASH: "sessions that you removed and can restore",
    "config.toml": "settings",
    "config.toml.rejected": "settings that could not be used",
    "config.lock": "lock for changes to the settings",
    "confirmed.json": "the settings that you confirmed",
    "choices.json": "your last choices",
    "mcp.json": "MCP servers",
    "agent-versions.json": "versions of installed agents",
    "agent-downloads.json": "agents that the public registry offers",
    "agent-digests.json": "digests of the agents that were downloaded",
    "agent_settings.json": "models and keys",
    "agent_settings.json.before-migration": "models and keys, as an earlier format had them",
    "agent_settings.json.lock": "lock for changes to the models",
    "agent_servers.json": "keys of agent servers",
    "auth": "logins: subscriptions and MCP servers",
    "memory": "what Rookery's own agent remembers of you",
    "hooks.json": "hooks",
    "trusted.json": "hooks and git filters of projects that you trust",
    "prompts.jsonl": "your prompt history",
    "drafts.json": "prompts that you began and did not send",
    "feedback.jsonl": "your feedback on the critic",
    "agents": "agents that you installed with rookery agents install",
    "conversations": "conversations of Rookery's own agent",
    "sdk": "data of its SDK",
    "player": "sessions of the demo agent",
    paths.FORMAT: "which builds may use it",
    "run": "sockets",
    "slots": "worker slots",
    "scratch": "temporary folders",
    "search": "the index of rookery search",
    "snapshots": "snapshots of directories, for rewind",
    "spent": "what each day has cost",
    "daemon": "devices that may log in to rookery serve",
    "logins.json": "logins to other machines",
    "logins.lock": "lock for changes to the logins",
    "import.lock": "lock for imports",
    "removed.jsonl": "sessions that you removed, which imports leave out",
    "places": "which session works in which directory",
    "cache": "a cache",
    "crash.log": "error tracebacks",
}
"""Names that Rookery puts into its home, each with its meaning. Everything else in there stays."""

READ = frozenset({"skills", WORKTREES})
"""The user's own work, which stays: what is only read there, and what sessions did in worktrees."""

OF_SESSIONS = frozenset({SESSIONS, TRASH, "snapshots", paths.FORMAT})
"""Names in the home that are kept with the sessions."""

TRIES, PAUSE = 30, 0.1
"""To remove a folder, and the seconds between."""

TEMPORARY = re.compile(r"\.\d+\.[0-9a-f]+\.tmp$")
"""How the name of a file ends that was not written completely."""

SHELL_FILES = (
    *("~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc"),
    "~/.config/fish/config.fish",
)
SCRIPTS = (
    "~/.config/fish/completions/rookery.fish",
    "~/.local/share/bash-completion/completions/rookery",
    "~/.zfunc/_rookery",
)


@click.command()
@click.option("--keep-sessions", is_flag=True, help="Remove everything except the sessions.")
@flags.text("--export", metavar="DIR", help="First write each session there, as .md and .jsonl.")
@flags.yes
@flags.results("Print JSON.")
def uninstall(keep_sessions: bool, export: str, yes: bool) -> None:
    """Show what Rookery stores and what is running, then remove the data.

    Workers are stopped first. The package itself must be removed by the program that installed
    it; that command is printed. Your projects, and changes agents made in them, are not touched.

    \b
    rookery uninstall
    rookery uninstall --export ~/old-sessions
    rookery uninstall --keep-sessions --yes
    """
    screen = standard()
    guard.require_person(paths.home(), "uninstall Rookery")
    inventory = _inventory(paths.home(), keep_sessions=keep_sessions)
    screen.result(inventory.to_json())
    _write(screen, inventory, keep_sessions=keep_sessions)
    what = "everything except" if keep_sessions else "everything, including"
    if not inventory.mine:
        screen.note("There is no data to remove.")
    else:
        if not yes:
            if not (keep_sessions or export or screen.as_json):
                export = _offer_export(screen, inventory)
            question = f"Permanently remove {what} the sessions?"
            flags.confirm(screen, question, "remove it")
        if export:
            _export(screen, inventory, os.path.expanduser(export))
        _end_daemon(inventory.home)
        _end_workers(screen, inventory)
        _remove(inventory, keep_sessions=keep_sessions)
        screen.note("Removed." + (" The sessions are kept." if keep_sessions else ""))
        if os.path.lexists(units.file()):
            screen.note(f"Remove the service, too: {units.undoing()}")
        for place in inventory.shells:
            screen.note(f"Remove this from your shell's files: {paths.with_tilde(place)}")
    if inventory.package.command and not screen.as_json:
        screen.note(f"The program itself: {inventory.package.command}")


class Package(NamedTuple):
    place: str
    how: str
    command: str
    """Removes it; "": it was never installed."""


class Inventory(NamedTuple):
    home: str
    known: list[Json]
    """The heads of all sessions."""
    mine: list[str]
    """What would be removed."""
    others: list[str]
    """What is not Rookery's."""
    package: Package
    shells: list[str]
    """Where completions are set up."""

    @property
    def awake(self) -> list[str]:
        return [head["id"] for head in self.known if head["awake"]]

    def to_json(self) -> Json:
        return {
            "home": self.home,
            "bytes": fleet.size_of(self.home),
            "sessions": len(self.known),
            "awake": self.awake,
            "removes": self.mine,
            "leaves": self.others,
            "sockets": paths.socket_directory(self.home),
            "completions": self.shells,
            "package": self.package._asdict(),
        }


def _inventory(home: str, *, keep_sessions: bool) -> Inventory:
    try:
        names = sorted(os.listdir(home))
    except (FileNotFoundError, NotADirectoryError):
        names = []
    mine = [name for name in names if TEMPORARY.sub("", name) in OURS]
    if WORKTREES in names and not os.listdir(os.path.join(home, WORKTREES)):
        mine.append(WORKTREES)
    others = [name for name in names if name not in mine]
    removed = [name for name in mine if not (keep_sessions and name in OF_SESSIONS)]
    return Inventory(home, fleet.heads(home), removed, others, package(), completions())


def _write(screen: Screen, inventory: Inventory, *, keep_sessions: bool) -> None:
    def row(label: str, text: str) -> None:
        screen.line(f"{label:<12} {text}")

    home = inventory.home
    much = f" · {size(fleet.size_of(home))}" if os.path.isdir(home) else " does not exist"
    row("Home", paths.with_tilde(home) + much)
    for name, meaning in OURS.items():
        place = os.path.join(home, name)
        if name == SESSIONS and inventory.known:
            text = f"{count(len(inventory.known), 'session')} · {size(fleet.size_of(place))}"
            row("", f"{text} · kept" if keep_sessions else text)
        elif name != SESSIONS and os.path.lexists(place):
            row("", f"{name} · {meaning}")
    if WORKTREES in inventory.others:
        row("", f"{WORKTREES} · what sessions did in worktrees of their own · kept")
    if others := [name for name in inventory.others if name != WORKTREES]:
        row("", f"not Rookery's, kept: {clean_line(', '.join(others))}")
    row("Sockets", paths.with_tilde(paths.socket_directory(home)))
    awake = [head for head in inventory.known if head["awake"]]
    runs = [f"{head['id']} ({state_of(head, awake=True)})" for head in awake]
    runs += ["rookery serve"] if daemon.record(home) else []
    row("Running", ", ".join(runs) or "nothing")
    for number, place in enumerate(inventory.shells):
        row("" if number else "Completions", paths.with_tilde(place))
    row("Program", f"{paths.with_tilde(inventory.package.place)} · {inventory.package.how}")
    if inventory.package.command:
        row("", f"to remove it: {inventory.package.command}")
    row("Untouched", "your projects, and changes agents made in them")


def _offer_export(screen: Screen, inventory: Inventory) -> str:
    """Ask where to write the sessions first; return "" for nowhere."""
    if not inventory.known:
        return ""
    if not flags.in_terminal():
        screen.note("To write the sessions to files first: --export DIR")
        return ""
    question = "Write the sessions to files first? A directory, or Enter for no"
    return str(click.prompt(question, default="", show_default=False, err=True)).strip()


def _export(screen: Screen, inventory: Inventory, place: str) -> None:
    """Write the sessions to files. Raises OSError before anything was removed."""
    os.makedirs(place, exist_ok=True)
    written = 0
    for head in inventory.known:
        try:
            for form in ("md", "jsonl"):
                files.to_new_file(inventory.home, head["id"], place, place, form)
            written += 1
        except LogError as error:
            screen.note(f"{head['id']} cannot be read: {clean_line(str(error))}")
    screen.note(f"Wrote {count(written, 'session')} to {clean_line(place)}.")


def _end_daemon(home: str) -> None:
    """Stop the daemon first: it would start a warm agent again, and write its files."""
    lifecycle.stop(home)


def _end_workers(screen: Screen, inventory: Inventory) -> None:
    """Ask the workers that respond to stop, then kill whatever is left."""
    silent = hung(inventory.home, inventory.awake)
    for session in inventory.awake:
        screen.status(f"stopping {session}")
        if session not in silent:
            send(session, {"do": "stop"})
        fleet.kill(inventory.home, session)
    warm_agent.end(inventory.home)


def _remove(inventory: Inventory, *, keep_sessions: bool) -> None:
    home = inventory.home
    for head in inventory.known:
        with suppress(OSError, paths.PathError):
            os.unlink(paths.socket_path(paths.session_dir(home, head["id"])))
    if TRASH in inventory.mine:
        _give_up_branches(home)
    for name in inventory.mine:
        place = os.path.join(home, name)
        if os.path.isdir(place) and not os.path.islink(place):
            _remove_folder(place)
        else:
            with suppress(FileNotFoundError):  # taken away by a process that ended
                os.unlink(place)
    with suppress(OSError):  # of other homes, too: the last one takes it away
        os.rmdir(paths.socket_directory(home))
    if not keep_sessions:
        with suppress(OSError):  # what is not ours keeps it
            os.rmdir(home)


def _remove_folder(place: str) -> None:
    """Remove a folder, with retries: a process that ends may still change files in it."""
    for _ in range(TRIES):
        try:
            return shutil.rmtree(place)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise
            if not os.path.lexists(place):
                return None
            time.sleep(PAUSE)
    return shutil.rmtree(place)


def _give_up_branches(home: str) -> None:
    """Remove what repositories keep for the worktrees in the trash."""
    for entry in store.entries(home):
        with suppress(OSError):
            if (tree := entry.tree()) is not None:
                branch.erase(entry.name, tree)


# ---------------------------------------------------------------- the package


HOW = {
    "uv tool": "by uv, as a tool",
    "pipx": "by pipx",
    "uv pip": "by uv",
    "pip": "by pip",
    "": "run from its source",
}


def package() -> Package:
    """Return the package that runs now, under either name that it has had."""
    installation = running()
    editable = ", from a checkout" if installation.source.kind == "editable" else ""
    place = os.path.dirname(os.path.abspath(rookery.__file__))
    return Package(place, HOW[installation.installer] + editable, uninstall_line(installation))


def completions() -> list[str]:
    """Return where shells were set up for our completions: files, and lines of files."""
    places = [path for path in map(os.path.expanduser, SCRIPTS) if os.path.lexists(path)]
    for path in map(os.path.expanduser, SHELL_FILES):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
        except OSError:
            continue
        numbers = [n for n, line in enumerate(lines, 1) if "rookery completions" in line]
        places += [f"{path}, line {number}" for number in numbers]
    return places
