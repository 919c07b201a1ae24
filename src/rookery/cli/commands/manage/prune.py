"""`prune`: finds old, large and archived sessions, and moves them to the trash on request."""

import os
import time
from typing import Any

import click

from rookery.cli import exits, flags
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.output.skipped import note_skipped
from rookery.cli.output.units import AGE, SIZE
from rookery.client import fleet
from rookery.client.fleet import heads
from rookery.client.offline import fault_of
from rookery.core import units
from rookery.core.json import Json, dumps
from rookery.core.json.safe_text import count
from rookery.core.refusals import Refused, sentences
from rookery.home import paths
from rookery.render.local_time import ago, day_of
from rookery.search.update import drop_deleted

SHAPE = (
    table.Column("ID"),
    table.Column("TITLE", least=12),
    table.Column("AGENT", least=6, rank=2),
    table.Column("LAST ACTIVE", rank=1),
    table.Column("SIZE", right=True),
)


@click.command()
@click.option("--older-than", type=AGE, help="Not active for this long: 12h, 30d, 8w.")
@click.option("--larger-than", type=SIZE, help="Larger than this: 500K, 100M, 2G.")
@click.option("--archived", is_flag=True, help="Only archived sessions.")
@click.option("--damaged", is_flag=True, help="Only sessions with an unreadable log.")
@flags.flag("--permanently", help="Delete them at once, instead of moving them to the trash.")
@flags.yes
@flags.as_json("Print one JSON object per session.")
def prune(yes: bool, as_json: bool, permanently: bool, **filters: Any) -> int:
    """Show which sessions match and how much space they take, then move them to the trash. Their
    space is freed 14 days later, or when the disk is nearly full.

    Takes only sessions that match every filter, and never running ones. Files changed by agents
    stay. A terminal asks first; a script has to pass --yes.

    \b
    rookery prune --older-than 30d
    rookery prune --archived --larger-than 100M
    rookery prune --older-than 8w --yes --permanently
    """
    if all(value is None or value is False for value in filters.values()):
        raise click.UsageError(
            "Pass a filter: --older-than 30d, --larger-than 100M, --archived or --damaged."
        )
    screen, home = standard(), paths.home()
    meant, awake, closed = _meant(home, **filters)
    if as_json:
        for head in meant:
            fields = ("id", "title", "agent", "at", "archived", "bytes")
            screen.line(dumps({key: head[key] for key in fields}))
    elif meant:
        _write(screen, meant)
    if awake:
        screen.note(
            f"{count(awake, 'session')} skipped: still awake (run rookery stop ID, then try again)."
        )
    note_skipped(screen, "Not deleted", closed)
    these = "this session" if len(meant) == 1 else f"these {len(meant)} sessions"
    if not meant:
        screen.note("No matching sessions.")
        return exits.DONE
    if not yes:
        verb = "delete them" if permanently else "move them to the trash"
        question = f"Permanently delete {these}?" if permanently else f"Move {these} to the trash?"
        flags.confirm(screen, question, verb, as_json=as_json)
    return _remove(screen, home, meant, permanently=permanently)


def _meant(
    home: str, *, older_than: float | None, larger_than: float | None, archived: bool, damaged: bool
) -> tuple[list[Json], int, list[str]]:
    """The sessions with their sizes, largest first; how many only their being awake saves; and
    those that are not the user's to delete."""
    now = time.time() * 1000
    found, awake, closed = list[Json](), 0, list[str]()
    for head in heads(home):
        if archived and not head["archived"]:
            continue
        if damaged and not ((fault := fault_of(home, head["id"])) and fault.damaged):
            continue
        if older_than is not None and now - head["at"] < older_than * 1000:
            continue
        directory = paths.session_dir(home, head["id"])
        size = fleet.size_of(directory)
        if larger_than is not None and size <= larger_than:
            continue
        if os.path.exists(directory) and not os.access(directory, os.W_OK | os.X_OK):
            closed.append(head["id"])
        elif fleet.is_in_use(home, head):
            awake += 1
        else:
            found.append(head | {"bytes": size})
    return sorted(found, key=lambda head: -head["bytes"]), awake, closed


def _write(screen: Screen, meant: list[Json]) -> None:
    now = time.time() * 1000
    rows = []
    for head in meant:
        title = clean_line(head["title"]) or "(no title)"
        size = units.size(head["bytes"])
        rows.append([head["id"], title, clean_line(head["agent"]), ago(head["at"], now), size])
    table.write(screen, SHAPE, rows)
    total = units.size(sum(head["bytes"] for head in meant))
    screen.line(f"{count(len(meant), 'session')}, {total} in all")


def _remove(screen: Screen, home: str, meant: list[Json], *, permanently: bool) -> int:
    from rookery.client.trash import emptying, moves
    from rookery.client.worktrees.drop import Unmerged

    gone, until, failed = list[Json](), 0, False
    for head in meant:
        if fleet.is_in_use(home, head):
            screen.note(f"{head['id']} woke up in the meantime and was kept.")
            continue
        try:
            if permanently:
                fleet.remove(home, head["id"])
            else:
                until = moves.remove(home, head["id"]).until
        except Unmerged as error:
            screen.note(f"{head['id']} was kept. {error}")
            continue
        except fleet.UnknownSession:
            screen.note(f"{head['id']} was removed in the meantime.")
            continue
        except (Refused, OSError) as error:
            screen.note(f"{head['id']} could not be removed: {clean_line(sentences(error))}")
            failed = True
            continue
        gone.append(head)
    these, size = count(len(gone), "session"), units.size(sum(head["bytes"] for head in gone))
    if not gone:
        screen.note("No session was removed.")
    elif permanently:
        screen.note(f"Deleted {these}: {size} freed.")
        drop_deleted(home)
    else:
        screen.note(f"Moved {these} to the trash: {size} will be freed on {day_of(until)}.")
        low = "The disk is nearly full. " if emptying.is_low(home) else ""
        screen.note(f"{low}To free it now: rookery trash --empty")
    return exits.FAILED if failed else exits.DONE
