"""`trash`: prints a table of what is in the trash; `--empty` deletes it."""

from typing import Any

from rookery.cli import flags, target
from rookery.cli.agreeing import agreed
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.session.send import Say
from rookery.core import units
from rookery.core.json import Json
from rookery.core.view.fleet import NO_TITLE
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import day_of

JSON = flags.results("Print one JSON object per session.")
OPTIONS = (flags.flag("--empty", help="Delete everything in the trash permanently."), flags.yes)
MORE = "To restore one, run rookery restore ID."
SHAPE = (
    table.Column("ID"),
    table.Column("TITLE", least=12),
    table.Column("AGENT", least=6, rank=2),
    table.Column("REMOVED", rank=1),
    table.Column("KEPT UNTIL"),
    table.Column("SIZE", right=True, rank=3),
)


def carry_out(_row: Row, _session: str, _say: Say, given: Any) -> None:
    screen = standard()
    if not given["empty"]:
        show(screen)
        return

    def ask() -> None:
        if given["yes"]:
            return
        rows = flags.trashed()
        write(screen, rows)
        these = "this session" if len(rows) == 1 else f"these {len(rows)} sessions"
        flags.confirm(screen, f"Permanently delete {these}?", "empty the trash")

    outcome = agreed("empty-trash", ask)
    for line in outcome["kept"]:
        screen.note(f"  {clean_line(line)}")
    screen.note(outcome["summary"] if outcome["deleted"] else "The trash is empty.")


def show(screen: Screen) -> None:
    """Print what is in the trash."""
    for line in target.rookery().tidy([]):
        screen.note(clean_line(line))
    rows = flags.trashed()
    write(screen, rows)
    if not screen.as_json:
        screen.note("To restore one: rookery restore ID" if rows else "The trash is empty.")


def write(screen: Screen, rows: list[Json]) -> None:
    for row in rows:
        screen.result(row)
    if rows:
        table.write(screen, SHAPE, [_cells(row) for row in rows])


def _cells(row: Json) -> list[str]:
    title = clean_line(row["title"]) or NO_TITLE
    removed, until = day_of(row["removed"]), day_of(row["until"])
    size = units.size(row["bytes"])
    return [row["id"], title, clean_line(row["agent"]), removed, until, size]
