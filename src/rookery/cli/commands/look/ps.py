"""`ps`: lists the sessions, those that need the user first."""

import time

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line, cut, standard, table
from rookery.client.update.workers import is_older
from rookery.core import worktree
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import Shown
from rookery.core.json import Json, dumps, lenient
from rookery.core.policy import confinement, modes
from rookery.core.settings.sandbox import NONE
from rookery.core.turn import quota
from rookery.core.view import states
from rookery.core.view.fleet import NO_TITLE, is_hidden, is_parked, state_of
from rookery.home import paths
from rookery.render import signs
from rookery.render.local_time import age

BASE = (
    table.Column(""),
    table.Column("STATE"),
    table.Column("ID"),
    table.Column("TITLE", least=14, wish=24),
    table.Column("AGENT", least=6, rank=3),
    table.Column("ASKING", least=11, rank=1),
    table.Column("AGE", rank=2),
)
PLACE = (table.Column("DIRECTORY", least=9, rank=4), table.Column("BRANCH", least=8, rank=5))
DOING = table.Column("DOING", least=16, rank=6)
MORE = (
    table.Column("SANDBOX"),
    table.Column("TURN", right=True),
    table.Column("QUEUED", right=True),
    table.Column("MODEL"),
    table.Column("LIMITS"),
)
WIDTHS = ((140, (*BASE, *PLACE, DOING)), (100, (*BASE, *PLACE)), (0, BASE))
"""The columns, by those of the terminal: they do not depend on what is listed, so that an eye finds
them again. A pipe gets those of the middle row."""
WIDEST_TITLE = 60
"""Columns of a title in a pipe."""

FEW = 10
"""Rows up to which sessions that sleep are listed without --all."""


@click.command()
@click.option("--all", "everything", is_flag=True, help="Include all that are hidden.")
@click.option("--wide", is_flag=True, help="More columns, and nothing is cut.")
@flags.as_json("Print one JSON object per session.")
def ps(everything: bool, wide: bool, as_json: bool) -> None:
    """List sessions by state: those that need you, to read, running, waiting (limited, held, or for
    a free worker), idle and asleep; in each state, the latest change first.

    Archived and snoozed sessions are hidden, and in a long list those asleep. A dot before the
    title means unread: a turn ended, or the agent asked something.

    \b
    rookery ps
    rookery ps --json | jq -r 'select(.status == "needs-you").id'
    """
    screen, rookery = standard(), target.rookery()
    now = time.time() * 1000
    known = rookery.heads(probe=True, hidden=everything)
    for left in rookery.tidy(known):
        screen.note(clean_line(left))
    heads = in_order([head for head in known if everything or not is_hidden(head, now)])
    if as_json:
        for head in heads:
            screen.line(dumps(_as_json(head, now)))
        return
    if heads:
        write_table(screen, heads, most=None if everything or wide else FEW, wide=wide)
        silent = [head["id"] for head in heads if head["hung"]]
        for name in sorted(silent):
            screen.note(f"{name} does not respond. To end it: rookery stop --now {name}")
        if any(head.get("damaged") for head in heads):
            screen.note("To recover a damaged log: rookery doctor")
    else:
        screen.note(_none(len(rookery.heads())))
    for notice in rookery.notices():
        screen.note(notice)


def _none(hidden: int) -> str:
    if hidden:
        return f"No sessions but {hidden:,} archived or snoozed: rookery ps --all"
    return 'No sessions yet. rookery run "…" starts one.'


def _as_json(head: Json, now: float) -> Json:
    status, label = state_of(head, awake=head["awake"]), signs.label(head, now)
    return {**head, "status": status, "label": label, "stale": is_stale(head)}


def is_stale(head: Json) -> bool:
    """Tell whether the session's worker is of an older build, to be replaced when idle."""
    if "stale" in head:  # said by its own machine
        return bool(head["stale"])
    return bool(head["awake"] and is_older(head["worker"]))


def write_table(
    screen: Screen, heads: list[Json], most: int | None = None, *, wide: bool = False
) -> None:
    """Write `heads`, which are in order, as a table. With `most`, sleeping sessions are listed only
    while the table has no more rows than that."""
    listed = heads if most is None else shortened(heads, most)
    now = time.time() * 1000
    _write(screen, [_cells(screen, head, now) for head in listed], listed, wide=wide)
    if left := len(heads) - len(listed):
        more = f"{left:,} {'more ' if _sleeps(listed[-1]) else ''}asleep: rookery ps --all"
        screen.line(screen.paint.faint(more))


def shortened(heads: list[Json], most: int) -> list[Json]:
    """Return the first `most` heads, but all that do not sleep: those that sleep come last."""
    others = sum(not _sleeps(head) for head in heads)
    return heads[: max(others, most)]


def _sleeps(head: Json) -> bool:
    return bool(head["group"] == states.ASLEEP and not head["pinned"])


def in_order(heads: list[Json]) -> list[Json]:
    """Return the heads in order, each extended with its `states.standing`."""
    listed = [head | states.standing(head, state_of(head, awake=head["awake"])) for head in heads]
    return states.in_order(listed)


def _cells(screen: Screen, head: Json, now: float) -> dict[str, str]:
    """Return the cells of a session's row, by heading."""
    tree, sandbox = head.get("worktree"), lenient.text(head, "sandbox")
    place = lenient.text(tree, "origin") or head["cwd"]
    return {
        "": screen.paint.sign(head["condition"]),
        "STATE": _state(head, now),
        "ID": head["id"],
        "TITLE": _title(screen, head),
        "AGENT": clean_line(head.get("agentName") or head["agent"]),
        "ASKING": _asking(head),
        "AGE": age(head["began"], now),
        "DIRECTORY": paths.with_tilde(clean_line(place)),
        "BRANCH": clean_line(worktree.brief(tree)),
        "SANDBOX": "" if sandbox == NONE else sandbox,
        "TURN": str(head["turn"]),
        "QUEUED": str(head["queue"] or ""),
        "MODEL": clean_line(head["model"] or ""),
        "LIMITS": ", ".join(window.text for window in quota.current(Shown(head), now)),
        "DOING": clean_line(head.get("doing") or head["last"]),
    }


def _state(head: Json, now: float) -> str:
    flags = {
        "stale": is_stale(head),
        "asleep": head["condition"] == "needs-you" and not head["awake"],
        "parked": is_parked(head),
        "pinned": head["pinned"],
        "archived": head["archived"],
        "snoozed": is_snoozed(Shown(head), now),
    }
    labels = [] if head["condition"] == "hung" else [name for name, is_so in flags.items() if is_so]
    return " ".join([signs.label(head, now), *(f"({name})" for name in labels)])


def _title(screen: Screen, head: Json) -> str:
    title = clean_line(head["title"]) or NO_TITLE
    mark = f"{screen.paint.sign('unread')} " if head["unread"] else ""
    return mark + (title if screen.fits else cut(title, WIDEST_TITLE))


def _asking(head: Json) -> str:
    """Return how much is asked, if less than everything, and whether confinement is weak."""
    weak = confinement.WORDS[confinement.WEAK] if head.get("guard") == confinement.WEAK else ""
    return ", ".join(each for each in (modes.brief(Shown(head)), weak) if each)


def _write(screen: Screen, rows: list[dict[str, str]], listed: list[Json], *, wide: bool) -> None:
    def look(number: int, heading: str, cell: str) -> str:
        in_state = heading in ("", "STATE")
        return screen.paint.in_(listed[number]["condition"], cell) if in_state else cell

    width = screen.width if screen.fits else WIDTHS[1][0]
    fitting = next(shape for least, shape in WIDTHS if width >= least)
    shape = (*BASE, *PLACE, *MORE, DOING) if wide else fitting
    table.write(
        screen, shape, [[row[column.heading] for column in shape] for row in rows], look, whole=wide
    )
