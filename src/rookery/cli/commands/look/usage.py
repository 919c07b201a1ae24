"""`usage`: tokens, cost and turns, with a small chart."""

import os
import time

import click

from rookery import usage as room
from rookery.cli import flags, target
from rookery.cli.output import table
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.output.skipped import note_skipped
from rookery.cli.output.units import AGE
from rookery.core import units
from rookery.core.json.events import Json, dumps
from rookery.core.turn import quota
from rookery.core.vendors.detection import OWN
from rookery.home import paths
from rookery.render.local_time import ago, clock_time
from rookery.usage import Group

WIDEST = 24
"""Columns of a bar."""

NARROW = 100
"""In fewer columns bars are half as wide."""

EIGHTHS = " ▏▎▍▌▋▊▉"


@click.command()
@click.option("--by", type=click.Choice(room.BY), default="day", help="Default: day.")
@click.option("--since", type=AGE, default="30d", help="How far back: 12h, 7d, 8w (default: 30d).")
@click.option("--all", "everything", is_flag=True, help="Everything in the logs.")
@click.option("--agent", default="", metavar="NAME", help="Only turns of this agent.")
@click.option(
    "--in",
    "within",
    default="",
    type=click.Path(),
    metavar="DIR",
    help="Only sessions in this directory.",
)
@click.option("--limits", is_flag=True, help="Print the quotas that agents report instead.")
@flags.as_json("Print JSON.")
def usage(
    by: str,
    since: float,
    everything: bool,
    agent: str,
    within: str,
    limits: bool,
    as_json: bool,
) -> None:
    """Print tokens, cost and turns of your sessions, as their agents report them.

    Days are yours, not UTC. Agents report different things: some no cost, some no tokens. What a
    deleted session used is no longer counted.

    --limits prints what each agent said last of its quotas: the window, the share used, when it
    resets, and how old the report is. Agents that report none are not listed.

    \b
    rookery usage
    rookery usage --by model --since 7d
    rookery usage --by session --in ~/shop --all
    rookery usage --limits
    """
    if limits:
        _limits(agent, as_json=as_json)
        return
    begin = 0.0 if everything else (time.time() - since) * 1000
    skipped: list[str] = []
    if door := target.door():
        given = {"by": by, "agent": agent, "in": within, "since": int(begin) or None}
        said = door.json("GET", "/api/usage", query=given)
        groups, whole = [_group(each) for each in said["groups"]], _group(said["total"])
        titles = {head["id"]: head["title"] for head in target.rookery().heads()}
    else:
        rows = room.collect(paths.home(), room.Filters(begin, agent, within), skipped)
        groups, whole, titles = room.grouped(rows, by), room.total(rows), dict[str, str]()
    screen = standard()
    if as_json:
        listed = [group.to_json() for group in groups]
        screen.line(dumps({"by": by, "groups": listed, "total": whole.to_json()}))
    elif not whole.turns and not whole.tokens:
        screen.note("No usage in this period." if not everything else "No usage yet.")
    else:
        _chart(screen, by, groups, whole, titles)
    note_skipped(screen, "Not counted", skipped)


def _limits(agent: str, *, as_json: bool) -> None:
    screen, now = standard(), time.time() * 1000
    if door := target.door():
        found = [quota.report_of(each) for each in door.json("GET", "/api/limits")["limits"]]
    else:
        found = quota.newest(target.rookery().heads(), OWN)
    found = [each for each in found if agent in ("", each.agent)]
    if as_json:
        screen.line(dumps({"limits": [each.as_json() for each in found]}))
        return
    if not found:
        screen.note("No agent has reported a quota.")
        return
    names = ("agent", "window", "used", "resets", "reported")
    columns = [table.Column(name, right=name == "used") for name in names]
    rows = [[clean_line(each.who), *_limit(each.window, now)] for each in found]

    def look(row: int, heading: str, text: str) -> str:
        near = quota.is_pressing(found[row].window, now)
        return screen.paint.in_("warn", text) if near and heading == "used" else text

    table.write(screen, columns, rows, look)


def _limit(window: quota.Window, now: float) -> list[str]:
    """One that was reset since says nothing of what is used."""
    share = "" if window.used is None else f"{round(window.used * 100)} %"
    share = "used up" if window.limited else share
    when = clock_time(window.resets, now) if window.resets is not None else ""
    if window.resets is not None and window.resets <= now:
        share, when = "", f"reset at {when}" if ":" in when[:3] else f"reset {when}"
    return [clean_line(window.name), share, when, ago(window.at, now)]


def _group(said: Json) -> Group:
    """As another machine's daemon says it."""
    numbers = {key: int(said["tokens"][key]) for key in ("input", "output", "cached", "thought")}
    cost = tuple((str(name), float(amount)) for name, amount in said["cost"].items())
    return Group(str(said["name"]), int(said["turns"]), cost=cost, **numbers)


def _chart(
    screen: Screen, by: str, groups: list[Group], whole: Group, titles: dict[str, str]
) -> None:
    measure = "tokens" if whole.tokens else "cost" if len(whole.cost) == 1 else "turns"
    values = [_measured(group, measure) for group in groups]
    wide = WIDEST if screen.width >= NARROW else WIDEST // 2
    signs = screen.paint.signs
    bars = [_bar(value, max(values), wide, signs=signs) for value in values]
    shape, shown = _shape(by, f"by {measure}", whole)
    rows = [
        [_name(by, group, titles), bar, *_numbers(group)]
        for group, bar in zip(groups, bars, strict=True)
    ]
    if len(groups) > 1:
        rows.append(["total", "", *_numbers(whole)])
    kept = [[cell for cell, keep in zip(row, shown, strict=True) if keep] for row in rows]

    def look(_row: int, heading: str, text: str) -> str:
        return screen.paint.in_("running", text) if heading == f"by {measure}" else text

    table.write(screen, shape, kept, look)


def _shape(by: str, bar: str, whole: Group) -> tuple[list[table.Column], list[bool]]:
    """Without the columns that nothing is known about."""
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
    some = [True, True, True, whole.input, whole.output, whole.cached, whole.thought, whole.cost]
    shown = [bool(each) for each in some]
    return [column for column, keep in zip(columns, shown, strict=True) if keep], shown


def _name(by: str, group: Group, titles: dict[str, str]) -> str:
    if by == "session" and group.name in titles:
        return f"{group.name} {clean_line(titles[group.name])}".strip()
    return _title(group.name) if by == "session" else clean_line(group.name)


def _numbers(group: Group) -> list[str]:
    counts = (group.input, group.output, group.cached, group.thought)
    tokens = [units.tokens(number) if number else "" for number in counts]
    cost = " + ".join(_money(currency, amount) for currency, amount in group.cost)
    return [str(group.turns) if group.turns else "", *tokens, cost]


def _money(currency: str, amount: float) -> str:
    return units.money(amount) if currency == "USD" else f"{amount:.2f} {clean_line(currency)}"


def _measured(group: Group, measure: str) -> float:
    if measure == "cost":
        return sum(amount for _, amount in group.cost)
    return float(group.tokens if measure == "tokens" else group.turns)


def _bar(value: float, most: float, wide: int, *, signs: bool) -> str:
    """What is there at all is seen."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(1, round(value / most * wide * 8))
    if not signs:
        return "#" * max(1, round(eighths / 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _title(session: str) -> str:
    head = paths.read_json(os.path.join(paths.session_dir(paths.home(), session), paths.HEAD)) or {}
    title = clean_line(str(head.get("title") or ""))
    return f"{session} {title}".strip()
