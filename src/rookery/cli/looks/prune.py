"""`prune`: shows a table of what matches, then asks."""

import time
from typing import Any

import click

from rookery.cli import exits, flags, target
from rookery.cli.agreeing import agreed
from rookery.cli.operation import values_of
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.output.skipped import note_skipped
from rookery.cli.output.units import SIZE
from rookery.cli.session.send import Say
from rookery.core import units
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import NO_TITLE
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import ago

JSON = flags.results("Print one JSON object per session.")
ARGUMENTS = {
    "larger_than": click.option("--larger-than", type=SIZE, help="Larger: 500K, 100M, 2G."),
}
MORE = "A terminal asks first; a script has to pass --yes."
FILTERS = ("older_than", "larger_than", "archived", "damaged")
SHAPE = (
    table.Column("ID"),
    table.Column("TITLE", least=12),
    table.Column("AGENT", least=6, rank=2),
    table.Column("LAST ACTIVE", rank=1),
    table.Column("SIZE", right=True),
)


def carry_out(row: Row, _session: str, _say: Say, given: Any) -> tuple[None, int]:
    if all(given[name] in (None, "") or given[name] is False for name in FILTERS):
        raise click.UsageError(
            "Pass a filter: --older-than 30d, --larger-than 100M, --archived or --damaged."
        )
    if given["larger_than"] is not None:
        given["larger_than"] = int(given["larger_than"])
    values, screen = values_of(row, given), standard()
    filters = {name: values[name] for name in FILTERS if name in values}
    plan = target.rookery().call("prune-plan", **filters)
    sessions = plan["sessions"]
    for each in sessions:
        screen.result(each)
    if sessions:
        _write(screen, sessions)
    if plan["awake"]:
        skipped = count(plan["awake"], "session")
        screen.note(f"{skipped} skipped: still awake (run rookery stop ID, then try again).")
    note_skipped(screen, "Not deleted", plan["closed"])
    if not sessions:
        screen.note("No matching sessions.")
        return None, exits.DONE
    if given["dry_run"]:
        screen.note("Dry run: nothing was done. Run it with --yes to go ahead.")
        return None, exits.DONE
    if not given["yes"]:
        _ask(screen, len(sessions), permanently=given["permanently"])
    only = [each["id"] for each in sessions]
    outcome = agreed("prune", lambda: None, **values, only=only)
    for line in outcome["kept"]:
        screen.note(clean_line(line))
    screen.note(outcome["summary"])
    if outcome["until"] is not None:
        screen.note("To free it now: rookery trash --empty")
    return None, exits.FAILED if outcome["failed"] else exits.DONE


def _write(screen: Screen, sessions: list[Json]) -> None:
    now = time.time() * 1000
    rows = []
    for each in sessions:
        title = clean_line(each["title"]) or NO_TITLE
        size = units.size(each["bytes"])
        rows.append([each["id"], title, clean_line(each["agent"]), ago(each["at"], now), size])
    table.write(screen, SHAPE, rows)
    total = units.size(sum(each["bytes"] for each in sessions))
    screen.line(f"{count(len(sessions), 'session')}, {total} in all")


def _ask(screen: Screen, number: int, *, permanently: bool) -> None:
    these = "this session" if number == 1 else f"these {number} sessions"
    if permanently:
        flags.confirm(screen, f"Permanently delete {these}?", "delete them")
    else:
        flags.confirm(screen, f"Move {these} to the trash?", "move them to the trash")
