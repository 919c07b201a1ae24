"""Pruning: finding old, large, archived and damaged sessions, and removing them together."""

import os
from collections.abc import Container
from typing import TYPE_CHECKING, Annotated, TypedDict

from rookery.core.refusals import Refused, sentences
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work
from rookery.operations.trash import DELETES, Permanently

if TYPE_CHECKING:
    from rookery.core.json import Json

OlderThan = Annotated[int | None, Arg("Not active since:", minimum=0, how="past", metavar="AGE")]
LargerThan = Annotated[int | None, Arg("Larger than this number of bytes.", minimum=0)]
Archived = Annotated[bool, Arg("Only archived sessions.")]
Damaged = Annotated[bool, Arg("Only sessions with an unreadable log.")]
Only = Annotated[
    list[str] | None,
    Arg("Only these of those that match, by their ids; without it, all of them.", typed=False),
]


class Prunable(TypedDict):
    id: str
    title: str
    agent: str
    at: Annotated[int, "When it was last active. In milliseconds since the epoch."]
    archived: bool
    bytes: Annotated[int, "On the disk."]


class PrunePlan(TypedDict):
    """The sessions that match every filter."""

    sessions: Annotated[list[Prunable], "Largest first."]
    awake: Annotated[int, "How many would match, but are awake."]
    closed: Annotated[list[str], "Those that cannot be read or removed."]


class Pruned(TypedDict):
    """The outcome of pruning: the sessions removed, and those kept."""

    summary: str
    removed: Annotated[list[str], "The ids of the sessions."]
    until: Annotated[int | None, "Until when they can be restored; null: they cannot."]
    kept: Annotated[list[str], "What was not removed, and why."]
    failed: Annotated[bool, "Whether something that should have been removed was not."]


@read("What could be pruned", on="rookery", typed=False, listed=False)
def prune_plan(
    at: At,
    older_than: OlderThan = None,
    larger_than: LargerThan = None,
    archived: Archived = False,
    damaged: Damaged = False,
) -> PrunePlan:
    """Find the sessions that match every filter, and how much space they take."""
    from rookery.client import fleet
    from rookery.client.offline import fault_of
    from rookery.home import paths

    matches, awake, closed = list[Prunable](), 0, list[str]()
    for head in fleet.heads(at.home):
        if archived and not head["archived"]:
            continue
        if damaged and not ((fault := fault_of(at.home, head["id"])) and fault.damaged):
            continue
        if older_than is not None and head["at"] > older_than:
            continue
        directory = paths.session_dir(at.home, head["id"])
        size = fleet.size_of(directory)
        if larger_than is not None and size <= larger_than:
            continue
        if os.path.exists(directory) and not os.access(directory, os.W_OK | os.X_OK):
            closed.append(head["id"])
        elif fleet.is_in_use(at.home, head):
            awake += 1
        else:
            matches.append(_prunable(head, size))
    matches.sort(key=lambda each: -each["bytes"])
    return {"sessions": matches, "awake": awake, "closed": closed}


def _prunable(head: "Json", size: int) -> Prunable:
    return {
        "id": head["id"],
        "title": head["title"],
        "agent": head["agent"],
        "at": head["at"],
        "archived": head["archived"],
        "bytes": size,
    }


def _all_leave(
    at: At,
    older_than: OlderThan = None,
    larger_than: LargerThan = None,
    archived: Archived = False,
    damaged: Damaged = False,
    permanently: Permanently = False,
    only: Only = None,
) -> Preview | None:
    from rookery.core.json.safe_text import count
    from rookery.operations.calling.carrying import preview_of

    plan = prune_plan.body(at, older_than, larger_than, archived, damaged)
    ids = sorted(only or [each["id"] for each in plan["sessions"]])
    if not ids:
        return None
    does = "permanently deletes" if permanently else "moves to the trash"
    return preview_of(f"This {does} {count(len(ids), 'session')}:\n" + "\n".join(ids))


@work(
    "Prune",
    on="rookery",
    person=DELETES,
    preview=_all_leave,
    needs_one=("older_than", "larger_than", "archived", "damaged"),
    listed=False,
    examples=(
        "--older-than 30d",
        "--archived --larger-than 100M",
        "--older-than 8w --yes --permanently",
    ),
)
def prune(
    at: At,
    older_than: OlderThan = None,
    larger_than: LargerThan = None,
    archived: Archived = False,
    damaged: Damaged = False,
    permanently: Permanently = False,
    only: Only = None,
) -> Pruned:
    """Find old or large sessions and move them to the trash. Their space is freed 14 days later, or
    when the disk is nearly full.

    Takes only sessions that match every filter, and never running ones. Files changed by agents
    stay.
    """
    from rookery.client.trash.emptying import is_low
    from rookery.core import units
    from rookery.core.json.safe_text import count
    from rookery.render.local_time import day_of
    from rookery.search.update import drop_deleted

    plan = prune_plan.body(at, older_than, larger_than, archived, damaged)
    sizes = {each["id"]: each["bytes"] for each in plan["sessions"]}
    outcome = Pruned(summary="", removed=[], until=None, kept=[], failed=False)
    for session in only or sizes:
        at.report(f"{len(outcome['removed']):,} removed …")
        why = _why_not(at, session, sizes)
        if why:
            outcome["kept"].append(why)
        else:
            _remove(at, session, outcome, permanently=permanently)
    these = count(len(outcome["removed"]), "session")
    size = units.size(sum(sizes[session] for session in outcome["removed"]))
    if not outcome["removed"]:
        outcome["summary"] = "No session was removed."
    elif permanently:
        drop_deleted(at.home)
        outcome["summary"] = f"Deleted {these}: {size} freed."
    else:
        when = day_of(outcome["until"] or 0)
        outcome["summary"] = f"Moved {these} to the trash: {size} will be freed on {when}."
        outcome["summary"] += " The disk is nearly full." if is_low(at.home) else ""
    return outcome


def _why_not(at: At, session: str, matching: Container[str]) -> str:
    import os

    from rookery.client import fleet
    from rookery.home import paths

    if not os.path.isdir(paths.session_dir(at.home, session)):
        return f"{session} was removed in the meantime."
    head = fleet.head_of_session(at.home, session)  # None: it is damaged
    if head is not None and fleet.is_in_use(at.home, head):
        return f"{session} woke up in the meantime and was kept."
    return "" if session in matching else f"{session} no longer matches, and was kept."


def _remove(at: At, session: str, outcome: Pruned, *, permanently: bool) -> None:
    from rookery.client import fleet
    from rookery.client.trash import moves
    from rookery.client.worktrees.drop import Unmerged

    try:
        if permanently:
            fleet.remove(at.home, session)
        else:
            outcome["until"] = moves.remove(at.home, session).until
    except Unmerged as error:
        outcome["kept"].append(f"{session} was kept. {error}")
    except fleet.UnknownSession:
        outcome["kept"].append(f"{session} was removed in the meantime.")
    except (Refused, OSError) as error:
        outcome["kept"].append(f"{session} could not be removed: {sentences(error)}")
        outcome["failed"] = True
    else:
        outcome["removed"].append(session)
