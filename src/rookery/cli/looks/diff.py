"""`diff`: prints a patch with colours, or only the files. Without a session's name it takes one of
this directory."""

from collections.abc import Sequence

import click

from rookery.cli import target
from rookery.cli.flags import complete_sessions, find_session, flag, results
from rookery.cli.operation import values_of
from rookery.cli.output import Screen, clean, clean_line, standard
from rookery.cli.session.here import session_here
from rookery.core import worktree
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.operations.catalogue.row import Row

COLOURS = {"+": "done", "-": "failed", "@": "running"}
SESSION = click.argument(
    "session", required=False, callback=find_session, shell_complete=complete_sessions
)
OPTIONS = (
    flag("--stat", help="Only the files, with the number of lines added and removed."),
    flag("--all", "everything", help="All changes in its directory since the last commit."),
)
MORE = "SESSION: by default, the latest one of this directory."
JSON = results("Print one JSON object.")


def ask(row: Row, session: str | None, options: Json) -> Json:
    given = values_of(row, options)
    if options["everything"] and given.get("turn"):
        raise click.UsageError("--all and --turn cannot be combined.")
    given["of"] = "directory" if options["everything"] else "session"
    options["session"] = session or session_here()
    return target.rookery().call(row.name, options["session"], **given)


def show(result: Json, options: Json) -> None:
    screen = standard()
    if result["note"]:
        screen.note(clean_line(result["note"]))
    if not result["files"]:
        screen.note("Nothing changed.")
    if options["stat"]:
        _write_stat(screen, result["files"])
    else:
        _write_patch(screen, result["patch"])
    head = target.rookery().head(options["session"]) if result["of"] == "worktree" else None
    if summary := worktree.brief((head or {}).get("worktree")):
        screen.note(clean_line(f"{summary}, since {result['base'][:12]}"))
    if result["cut"]:
        screen.note("The rest is too large to show.")


def _write_stat(screen: Screen, files: Sequence[Json]) -> None:
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
