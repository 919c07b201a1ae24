"""`diff`: what a session changed."""

from collections.abc import Sequence
from typing import NamedTuple

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean, clean_line, standard
from rookery.cli.session.here import session_here
from rookery.core import worktree
from rookery.core.json import Json, dumps, lenient
from rookery.core.json.safe_text import count
from rookery.home import paths

COLOURS = {"+": "done", "-": "failed", "@": "running"}


class Found(NamedTuple):
    base: str
    files: list[Json]
    patch: str
    cut: bool
    of: str
    """session, worktree or directory."""
    note: str = ""


@click.command()
@click.argument("session", required=False, shell_complete=flags.complete_sessions)
@flags.flag("--stat", help="Only the files, with the number of lines added and removed.")
@flags.flag("--all", "everything", help="All changes in its directory since the last commit.")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only what turn N changed.")
@flags.as_json("Print one JSON object.")
def diff(
    session: str | None, stat: bool, everything: bool, turn: int | None, as_json: bool
) -> None:
    """Print what a session changed, new files included, as a patch.

    Only what its own turns changed, by their snapshots (docs/rewind.md): not what you did between
    them, nor what other sessions did in the same directory. With a worktree: everything since the
    commit it was made from, committed or not. Without snapshots, it says so and prints what --all
    does.

    SESSION: by default, the latest one of this directory.

    \b
    rookery diff
    rookery diff 3f2a --stat
    rookery diff 3f2a --all
    rookery diff 3f2a --turn 2
    rookery diff 3f2a | git apply
    """
    if everything and turn:
        raise click.UsageError("--all and --turn cannot be combined.")
    screen, rookery = standard(), target.rookery()
    name = rookery.find(session) if session else session_here()
    head = rookery.head(name)
    found = _read(name, head or {}, everything=everything, turn=turn)
    if as_json:
        screen.line(dumps(found._asdict()))
        return
    if found.note:
        screen.note(clean_line(found.note))
    if not found.files:
        screen.note("Nothing changed.")
    if stat:
        write_stat(screen, found.files)
    else:
        _write_patch(screen, found.patch)
    words = worktree.brief((head or {}).get("worktree"))
    if words and found.of == "worktree":
        screen.note(clean_line(f"{words}, since {found.base[:12]}"))
    if found.cut:
        screen.note("The rest is too large to show.")


OLDER = "The daemon is of an earlier version: these are all changes in the session's directory."


def _read(session: str, head: Json, *, everything: bool, turn: int | None) -> Found:
    if (door := target.door()) is not None:
        of = "directory" if everything else "session"
        more = f"&turn={turn}" if turn else ""
        said = door.json("GET", f"/api/sessions/{session}/diff?of={of}{more}")
        older = {"of": "directory", "note": "" if everything else OLDER}
        return Found(**{key: (older | said)[key] for key in Found._fields})
    from rookery.client.work_tree.changes import changes
    from rookery.client.work_tree.diff import as_patch
    from rookery.operations.merging.changed import Changed, changed, changed_alone

    cwd = str(head["cwd"])
    if turn:
        found = changed_alone(paths.home(), session, turn)
    else:
        found = Changed(changes(cwd), "directory") if everything else changed(paths.home(), head)
    whole = as_patch(found.changes)
    files = [change._asdict() for change in whole.files]
    return Found(whole.base, files, whole.patch, whole.cut, found.of, found.note)


def write_stat(screen: Screen, files: Sequence[Json]) -> None:
    rows = [(_counts(screen, file), clean_line(_name(file))) for file in files]
    width = max((len(counts) for counts, _ in rows), default=0)
    for counts, name in rows:
        screen.line(f"{counts:>{width}}  {name}")
    if rows:
        added, removed = (
            sum(lenient.integer(file, key) or 0 for file in files) for key in ("added", "removed")
        )
        screen.line(f"{count(len(rows), 'file')}, +{added} {screen.paint.sign('minus')}{removed}")


def _counts(screen: Screen, file: Json) -> str:
    if file["added"] is None:
        return "binary"
    return f"+{file['added']} {screen.paint.sign('minus')}{file['removed'] or 0}"


def _name(file: Json) -> str:
    before = f"{file['before']} => " if file["before"] else ""
    state = {"added": "new", "untracked": "new", "deleted": "deleted"}.get(file["state"], "")
    return f"{before}{file['path']}" + (f" ({state})" if state else "")


def _write_patch(screen: Screen, patch: str) -> None:
    if screen.piped:
        screen.write(patch)
        return
    for line in patch.split("\n")[:-1]:
        strong = line.startswith(("diff --git ", "--- ", "+++ "))
        token = "strong" if strong else COLOURS.get(line[:1], "")
        screen.line(screen.paint.in_(token, clean(line)))
