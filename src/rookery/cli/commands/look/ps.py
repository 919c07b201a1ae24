"""`ps`: the sessions, those that need the user first."""

import time
from contextlib import suppress

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line, cut, standard, table
from rookery.client.update.difference import of_daemon
from rookery.client.update.workers import is_older
from rookery.core import worktree
from rookery.core.clock_slip import is_snoozed
from rookery.core.json import Json, dumps, lenient
from rookery.core.policy import confinement, modes
from rookery.core.settings.sandbox import NONE
from rookery.core.units import duration
from rookery.core.view.fleet import ORDER, STATE_WORDS, is_hidden, is_parked, state_of
from rookery.home import paths

SHAPE = (
    table.Column(""),
    table.Column("STATE"),
    table.Column("ID"),
    table.Column("TITLE", least=14, wish=24),
    table.Column("AGENT", least=6, rank=3),
    table.Column("ASKING", rank=1),
    table.Column("SANDBOX", rank=2),
    table.Column("TURN", rank=5),
    table.Column("SINCE", rank=2),
    table.Column("DIRECTORY", least=8, rank=4),
    table.Column("BRANCH", least=8, rank=2),
)
WIDEST_TITLE = 60
"""Columns of a title in a pipe."""


@click.command()
@click.option("--all", "everything", is_flag=True, help="Include archived and snoozed sessions.")
@flags.as_json("Print one JSON object per session.")
def ps(everything: bool, as_json: bool) -> None:
    """List sessions: those that need you first, then failed or hung, running, waiting for a free
    worker (max_workers), idle and asleep; in each state, the latest change first.

    A dot before the title means unread: a turn ended, or the agent asked something.

    \b
    rookery ps
    rookery ps --json | jq -r 'select(.status == "needs-you").id'
    """
    screen, rookery = standard(), target.rookery()
    now = time.time() * 1000
    known = rookery.heads(probe=True, hidden=everything)
    for left in rookery.tidy(known):
        screen.note(clean_line(left))
    found = [head for head in known if everything or not is_hidden(head, now)]
    silent = {head["id"] for head in found if head["hung"]}
    if as_json:
        for head in in_order(found):
            status = state_of(head, awake=head["awake"])
            screen.line(dumps({**head, "status": status, "stale": is_stale(head)}))
    elif found:
        write_table(screen, found)
        for name in sorted(silent):
            screen.note(f"{name} does not respond. To end it: rookery stop --now {name}")
        if any(head.get("damaged") for head in found):
            screen.note("To recover a damaged log: rookery doctor")
        if not rookery.url:
            _say_held(screen, paths.home())
    else:
        screen.note('No sessions yet. rookery run "…" starts one.')
    if not as_json and not rookery.url and (difference := of_daemon(paths.home())):
        screen.note(difference)


def _say_held(screen: Screen, home: str) -> None:
    """Settings that wait for the user concern every session. The first worker that notices records
    it in a file, so that a list need not read the settings."""
    from rookery.client.config import in_force
    from rookery.core.settings.held import WAITS
    from rookery.home import confirmed
    from rookery.home.config import ConfigError

    record = confirmed.read(home)
    with suppress(ConfigError):
        if record is not None and record.held and in_force.settings(home).held is not None:
            screen.note(WAITS)


def is_stale(head: Json) -> bool:
    """Whether its worker is of an older build: it is replaced when idle."""
    if "stale" in head:  # said by its own machine
        return bool(head["stale"])
    return bool(head["awake"] and is_older(head["worker"]))


def write_table(screen: Screen, found: list[Json], most: int | None = None) -> None:
    found = in_order(found)
    shown = found if most is None else found[:most]
    now = time.time() * 1000
    states = [state_of(head, awake=head["awake"]) for head in shown]
    rows = [_row(screen, head, state, now) for head, state in zip(shown, states, strict=True)]
    _write(screen, rows, states)
    if len(shown) < len(found):
        screen.line(screen.paint.faint(f"and {len(found) - len(shown)} more: rookery ps"))


def in_order(found: list[Json]) -> list[Json]:
    """By the state that is shown, then by the time that is shown: the latest change first, but for
    what is pinned."""

    def place(head: Json) -> tuple[int, bool, int]:
        state = "failed" if head.get("hung") else state_of(head, awake=head["awake"])
        return ORDER.get(state, len(ORDER)), not head["pinned"], -_began(head)

    return sorted(found, key=place)


def _began(head: Json) -> int:
    """When the state that is shown began; 0: unknown."""
    return int(head["since"] or head["created"] or 0)


def _row(screen: Screen, head: Json, status: str, now: float) -> list[str]:
    since = duration(max(0.0, now - (_began(head) or now)) / 1000)
    words = STATE_WORDS.get(status, status) + (" (stale)" if is_stale(head) else "")
    words += " (asleep)" if status == "needs-you" and not head["awake"] else ""
    words += " (parked)" if is_parked(head) else ""
    words += " (pinned)" if head["pinned"] else ""
    words += " (archived)" if head["archived"] else ""
    words += " (snoozed)" if is_snoozed(head, now) else ""
    words = "hung" if head.get("hung") else words
    return [
        screen.paint.sign(status),
        words,
        head["id"],
        _title(screen, head),
        clean_line(head["agent"]),
        _asking(head),
        "" if head.get("sandbox", NONE) == NONE else head["sandbox"],
        str(head["turn"]),
        _coarse(since),
        paths.with_tilde(clean_line(lenient.text(head.get("worktree"), "origin") or head["cwd"])),
        clean_line(worktree.brief(head.get("worktree"))),
    ]


def _title(screen: Screen, head: Json) -> str:
    title = clean_line(head["title"]) or "(no title)"
    mark = f"{screen.paint.sign('unread')} " if head["unread"] else ""
    return mark + (title if screen.fits else cut(title, WIDEST_TITLE))


def _asking(head: Json) -> str:
    """How much it asks, if that is less than everything."""
    weak = confinement.WORDS[confinement.WEAK] if head.get("guard") == confinement.WEAK else ""
    return ", ".join(each for each in (modes.brief(head), weak) if each)


def _coarse(since: str) -> str:
    """One unit is enough in a list."""
    number, unit = since.split()[:2]
    return f"{number.partition('.')[0]} {unit}"


def _write(screen: Screen, rows: list[list[str]], states: list[str]) -> None:
    def look(number: int, heading: str, cell: str) -> str:
        return screen.paint.in_(states[number], cell) if heading in ("", "STATE") else cell

    # Empty columns are left out.
    kept = [place for place in range(len(SHAPE)) if any(row[place] for row in rows)]
    shape = [SHAPE[place] for place in kept]
    table.write(screen, shape, [[row[place] for place in kept] for row in rows], look)
