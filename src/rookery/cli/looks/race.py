"""`race show`: prints a table and what can be done next; fails if no session got to its end."""

from collections.abc import Sequence
from typing import Any

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.session.send import Say
from rookery.core import units
from rookery.core.json import Json, dumps
from rookery.core.view.states import label_of
from rookery.operations.catalogue.row import Row

JSON = flags.as_json("Print one JSON object per session.")

SHAPE = (
    table.Column("SESSION"),
    table.Column("AGENT", least=6),
    table.Column("STATE"),
    table.Column("FILES", right=True),
    table.Column("LINES", right=True),
    table.Column("TESTS"),
    table.Column("COST", right=True, rank=2),
    table.Column("TOKENS", right=True, rank=3),
    table.Column("TIME", right=True, rank=1),
)


def carry_out(_row: Row, _session: str, _say: Say, given: Any) -> tuple[None, int]:
    return None, compared(standard(), given["race"] or "", as_json=given["as_json"])


def compared(screen: Screen, name: str, *, as_json: bool) -> int:
    """Print a race; the exit code tells whether a session got to its end, or waits."""
    report = target.rookery().call("race", race=name)
    race, rows = report["id"], report["sessions"]
    if as_json:
        for row in rows:
            screen.line(dumps({"race": race, **row}))
    else:
        _write(screen, rows)
        _say_next(screen, race, rows)
    states = {row["state"] for row in rows}
    if states & {"done", "merged"}:
        return exits.DONE
    return exits.WAITING if "needs-you" in states else exits.FAILED


def _write(screen: Screen, rows: Sequence[Json]) -> None:
    minus = screen.paint.sign("minus")
    cells = []
    for row in rows:
        files = row["files"]
        lines = f"+{row['added']} {minus}{row['removed']}" if files else "changed nothing"
        cost = " ".join(
            units.money(amount) if currency == "USD" else f"{amount:.2f} {currency}"
            for currency, amount in row["cost"].items()
        )
        cells.append(
            [
                row["session"],
                clean_line(row["agent"]),
                label_of(row["state"]),
                "" if files is None else str(files),
                "" if files is None else lines,
                row["tests"],
                cost,
                units.tokens(row["tokens"]) if row["tokens"] else "",
                units.duration(row["seconds"]) if row["seconds"] else "",
            ]
        )
    table.write(screen, SHAPE, cells)


def _say_next(screen: Screen, race: str, rows: Sequence[Json]) -> None:
    if not any(row["tests"] for row in rows):
        screen.note("No tests ran. To run some: rookery config explain critic.command")
    if any(row["files"] is not None for row in rows):
        screen.note("  rookery diff SESSION        what one changed")
        screen.note("  rookery race pick SESSION   merge one, drop the rest")
        screen.note(f"  rookery race drop {race}    drop all")
