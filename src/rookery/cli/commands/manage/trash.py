"""`restore` and `trash`: removed sessions, which are kept for 14 days."""

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.core import units
from rookery.core.json import Json, dumps
from rookery.core.json.safe_text import count
from rookery.home import paths
from rookery.render.local_time import day_of

SHAPE = (
    table.Column("ID"),
    table.Column("TITLE", least=12),
    table.Column("AGENT", least=6, rank=2),
    table.Column("REMOVED", rank=1),
    table.Column("KEPT UNTIL"),
    table.Column("SIZE", right=True, rank=3),
)


@click.command()
@click.argument("names", nargs=-1, metavar="[SESSION]...", shell_complete=flags.complete_trashed)
@flags.as_json("Print JSON.")
def restore(names: tuple[str, ...], as_json: bool) -> int:
    """Restore sessions from the trash, with their snapshots, worktree and branch. Without a name,
    list what is in the trash.

    \b
    rookery restore
    rookery restore 3f2a
    """
    screen = standard()
    if not names:
        return _list(screen, as_json=as_json)
    for name in names:
        session, missing = target.rookery().restore(name)
        if as_json:
            screen.line(dumps({"id": session, "missing": missing}))
            continue
        screen.note(f"Restored {session}.")
        if missing:
            screen.note(f"  {clean_line(missing)}")
    return exits.DONE


@click.command()
@flags.flag("--empty", help="Delete everything in the trash permanently.")
@flags.yes
@flags.as_json("Print one JSON object per session.")
def trash(empty: bool, yes: bool, as_json: bool) -> int:
    """List removed sessions. Each is deleted permanently 14 days after it was removed; if the disk
    is full, the oldest are deleted earlier.

    \b
    rookery trash
    rookery restore 3f2a
    rookery remove --permanently 3f2a
    rookery trash --empty
    """
    screen, rookery = standard(), target.rookery()
    if not empty:
        return _list(screen, as_json=as_json)
    rows = rookery.trash()
    if not rows:
        screen.note("The trash is empty.")
        return exits.DONE
    if not yes:
        _list(screen, as_json=as_json)
        these = "this session" if len(rows) == 1 else f"these {len(rows)} sessions"
        question = f"Permanently delete {these}?"
        flags.confirm(screen, question, "empty the trash", as_json=as_json)
    gone = rookery.empty_trash(lambda words: screen.note(f"  {clean_line(words)}"))
    if not target.url():
        from rookery.search.update import drop_deleted

        drop_deleted(paths.home())
    freed = sum(row["bytes"] for row in rows if row["id"] in gone)
    screen.note(f"Deleted {count(len(gone), 'session')}: {units.size(freed)} freed.")
    return exits.DONE


def _list(screen: Screen, *, as_json: bool) -> int:
    for words in target.rookery().tidy([]):
        screen.note(clean_line(words))
    rows = target.rookery().trash()
    if as_json:
        for row in rows:
            screen.line(dumps(row))
        return exits.DONE
    if not rows:
        screen.note("The trash is empty.")
        return exits.DONE
    table.write(screen, SHAPE, [_cells(row) for row in rows])
    screen.note("To restore one: rookery restore ID")
    return exits.DONE


def _cells(row: Json) -> list[str]:
    title = clean_line(row["title"]) or "(no title)"
    removed, until = day_of(row["removed"]), day_of(row["until"])
    size = units.size(row["bytes"])
    return [row["id"], title, clean_line(row["agent"]), removed, until, size]
