"""`usage`: prints a small chart of tokens, cost and turns; with `--limits`, the quotas."""

import time

from rookery.cli import target
from rookery.cli.flags import flag
from rookery.cli.operation import values_of
from rookery.cli.output import table
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.output.skipped import note_skipped
from rookery.core import units
from rookery.core.json import Json
from rookery.core.turn import quota
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import ago, clock_time

OPTIONS = (
    flag("--all", "everything", help="Everything in the logs."),
    flag("--limits", help="Print the quotas that agents report instead."),
)
LATELY = 30 * 86_400.0
"""Seconds, where nothing else is said."""

WIDEST = 24
"""Columns of a bar."""

NARROW = 100
"""In fewer columns bars are half as wide."""

EIGHTHS = " ▏▎▍▌▋▊▉"
COUNTED = ("input", "output", "cached", "thought")


def ask(row: Row, _session: str, options: Json) -> Json:
    rookery, given = target.rookery(), values_of(row, options)
    if options["limits"]:
        return rookery.call("limits", agent=options["agent"])
    since = 0 if options["everything"] else int((time.time() - LATELY) * 1000)
    return rookery.call("usage", **{"since": since, **given})


def show(result: Json, options: Json) -> None:
    screen = standard()
    if options["limits"]:
        _limits(screen, [quota.report_of(each) for each in result["limits"]])
        return
    whole = result["total"]
    if not whole["turns"] and not _tokens(whole):
        screen.note("No usage yet." if options["everything"] else "No usage in this period.")
    else:
        _chart(screen, result["by"], result["groups"], whole)
    note_skipped(screen, "Not counted", result.get("skipped", ()))


def _limits(screen: Screen, reports: list[quota.Report]) -> None:
    now = time.time() * 1000
    if not reports:
        screen.note("No agent has reported a quota.")
        return
    names = ("agent", "window", "used", "resets", "reported")
    columns = [table.Column(name, right=name == "used") for name in names]
    rows = [[clean_line(each.who), *_limit(each.window, now)] for each in reports]

    def look(row: int, heading: str, text: str) -> str:
        near = quota.is_pressing(reports[row].window, now)
        return screen.paint.in_("warn", text) if near and heading == "used" else text

    table.write(screen, columns, rows, look)


def _limit(window: quota.Window, now: float) -> list[str]:
    """Return a window's cells. One reset since its report tells nothing of what is used."""
    share = "" if window.used is None else f"{round(window.used * 100)} %"
    share = "used up" if window.limited else share
    when = clock_time(window.resets, now) if window.resets is not None else ""
    if window.resets is not None and window.resets <= now:
        share, when = "", f"reset at {when}" if ":" in when[:3] else f"reset {when}"
    return [clean_line(window.name), share, when, ago(window.at, now)]


def _chart(screen: Screen, by: str, groups: list[Json], whole: Json) -> None:
    measure = "tokens" if _tokens(whole) else "cost" if len(whole["cost"]) == 1 else "turns"
    values = [_measured(group, measure) for group in groups]
    wide = WIDEST if screen.width >= NARROW else WIDEST // 2
    signs = screen.paint.signs
    bars = [_bar(value, max(values), wide, signs=signs) for value in values]
    shape, shown = _shape(by, f"by {measure}", whole)
    rows = [
        [clean_line(f"{group['name']} {group.get('title', '')}").strip(), bar, *_numbers(group)]
        for group, bar in zip(groups, bars, strict=True)
    ]
    if len(groups) > 1:
        rows.append(["total", "", *_numbers(whole)])
    kept = [[cell for cell, keep in zip(row, shown, strict=True) if keep] for row in rows]

    def look(_row: int, heading: str, text: str) -> str:
        return screen.paint.in_("running", text) if heading == f"by {measure}" else text

    table.write(screen, shape, kept, look)


def _shape(by: str, bar: str, whole: Json) -> tuple[list[table.Column], list[bool]]:
    """Return the columns that something is known about, and for every column whether it is kept."""
    columns = [
        table.Column(by, least=12, wish=18),
        table.Column(bar, rank=1),
        table.Column("turns", right=True),
        table.Column("in", right=True),
        table.Column("out", right=True),
        table.Column("cached", right=True, rank=3),
        table.Column("thought", right=True, rank=4),
        table.Column("cost", right=True),
    ]
    counted = whole["tokens"]
    some = [True, True, True, *(counted[key] for key in COUNTED), whole["cost"]]
    shown = [bool(each) for each in some]
    return [column for column, keep in zip(columns, shown, strict=True) if keep], shown


def _numbers(group: Json) -> list[str]:
    counts = [group["tokens"][key] for key in COUNTED]
    tokens = [units.tokens(number) if number else "" for number in counts]
    cost = " + ".join(_money(currency, amount) for currency, amount in group["cost"].items())
    return [str(group["turns"]) if group["turns"] else "", *tokens, cost]


def _money(currency: str, amount: float) -> str:
    return units.money(amount) if currency == "USD" else f"{amount:.2f} {clean_line(currency)}"


def _tokens(group: Json) -> int:
    counted: dict[str, int] = group["tokens"]
    return counted["input"] + counted["output"] + counted["cached"]


def _measured(group: Json, measure: str) -> float:
    if measure == "cost":
        return float(sum(group["cost"].values()))
    return float(_tokens(group) if measure == "tokens" else group["turns"])


def _bar(value: float, most: float, wide: int, *, signs: bool) -> str:
    """Return a bar for a value. Any value above 0 is visible."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(1, round(value / most * wide * 8))
    if not signs:
        return "#" * max(1, round(eighths / 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
