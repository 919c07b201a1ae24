"""Races: the same prompt to several agents, each in a worktree of its own, and their results. The
sessions of a race have its id in their headers; there is no other record."""

import os
import re

from rookery.client import fleet
from rookery.client.work_tree.changes import NoDiff
from rookery.client.worktrees.drop import together
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.critic.verdicts import COMMAND
from rookery.core.header import Shown
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import is_judged, state_of
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.calling.carrying import check_agreed, preview_of
from rookery.operations.catalogue.row import At, Preview
from rookery.operations.merging import session as branch
from rookery.operations.merging.results import Picked, Race, RaceDropped, Runner

LATEST = "latest"
PASSED, FAILED, RUNNING = "passed", "failed", "running"
ENDED = frozenset({"idle", "asleep", "failed", "limited", "damaged"})


class NoRace(NoWorktree):
    """Raised if there is no race of that name."""


def new_name() -> str:
    return os.urandom(3).hex()


def labels(agents: list[str]) -> list[str]:
    """Return a branch name for each agent; a second one of the same agent gets a number."""
    names: list[str] = []
    for agent in agents:
        plain = re.sub(r"[^\w.-]+", "-", agent).strip("-.") or "agent"
        number = sum(each == plain or each.startswith(f"{plain}-") for each in names)
        names.append(f"{plain}-{number + 1}" if number else plain)
    return names


def heads_of(home: str, race: str = "") -> tuple[str, list[Json]]:
    """Find a race by its id or the beginning of it, by default the latest; return its id and the
    heads of its sessions in the order of their creation. Raises NoRace."""
    race = "" if race == LATEST else race
    known = [head for head in fleet.heads(home) if lenient.text(head, "race")]
    named = [head for head in known if head["race"].startswith(race)]
    if not named:
        message = f"There is no race {race!r}." if race else "There are no races."
        raise NoRace("no_race", message, 'rookery race --agents a,b "…" starts one.')
    name = max(named, key=lambda head: int(head["created"] or 0))["race"]
    if race and len({head["race"] for head in named}) > 1 and race != name:
        raise NoRace("ambiguous", f"{race!r} matches more than one race.", "Use its whole id.")
    of_it = [head for head in known if head["race"] == name]
    return str(name), sorted(of_it, key=lambda head: (int(head["created"] or 0), head["id"]))


def table(home: str, race: str = "") -> Race:
    """Return the sessions of a race compared; by default, of the latest one. Raises NoRace."""
    name, heads = heads_of(home, race)
    return {"id": name, "sessions": [compared(home, head) for head in heads]}


def left_of(home: str, race: str) -> list[Runner]:
    """Return the sessions of a race whose worktrees still exist."""
    return [row for row in table(home, race)["sessions"] if row["files"] is not None]


def work_of(runner: Runner) -> str:
    """Describe what a session changed."""
    size = f"{count(runner['files'] or 0, 'file')}, +{runner['added']} −{runner['removed']}"
    return size if runner["files"] else "changed nothing"


def _go(home: str, runners: list[Runner]) -> list[str]:
    """Return what is lost with the worktrees of these sessions, as lines."""
    names = [each["session"] for each in runners]
    where = "in the worktree of session"
    return [
        f"Delete {count(len(runners), 'worktree')} with all changes:",
        *(f"  {each['session']}  {each['agent']}  {work_of(each)}" for each in runners),
        *filter(None, (together(branch.guests(home, each), f"{where} {each}") for each in names)),
    ]


def drop_preview(home: str, race: str) -> Preview | None:
    """Return a preview of dropping a race, or None if nothing is left to drop. Raises NoRace."""
    left = left_of(home, race)
    return preview_of("\n".join(_go(home, left))) if left else None


def pick_preview(at: At, how: str, message: str) -> Preview | None:
    """Return a preview of what is merged, and what is dropped. Raises NoRace, NoWorktree."""
    name = _race_of(at)
    if at.again and branch.told_before(at.home, at.session, how):
        return None
    branch.check_idle(at.home, at.session)
    plan = branch.plan_of(at.home, at.session, how, message)
    plan.check()
    merged = branch.preview(plan, others=branch.guests(at.home, at.session))
    rest = [each for each in left_of(at.home, name) if each["session"] != at.session]
    shown = "\n".join([merged.shown, *(_go(at.home, rest) if rest else [])])
    return Preview(shown, preview_of("", merged.fingerprint, rest).fingerprint)


def _race_of(at: At) -> str:
    """Return the race of a session that has changed something in it. Raises NoRace."""
    head = fleet.head_of_session(at.home, at.session)
    name = lenient.text(head, "race")
    if head is None or not name:
        raise NoRace("no_race", f"Session {at.session} is in no race.", kind="unclear")
    if not at.again and _size(head)[0] == 0:
        message = f"Session {at.session} changed nothing, so there is nothing to merge."
        remedy = f"Pick another, or drop all of them: rookery race drop {name}"
        raise NoRace("changed_nothing", f"{message} Nothing was dropped.", remedy)
    return name


def pick(at: At, how: str, message: str) -> Picked:
    """Merge one session, then drop the rest. If the merge fails, nothing is dropped. Raises NoRace,
    NoWorktree, NotAgreed, FromAgent."""
    name = _race_of(at)

    def check(_plan: object) -> None:
        if at.agreed is not None:
            check_agreed(at, pick_preview(at, how, message))

    before = branch.told_before(at.home, at.session, how) if at.again else None
    given = (at.home, at.session, how, message)
    merged = before or branch.merge_session(*given, check=check)
    rest = [each for each in heads_of(at.home, name)[1] if each["id"] != at.session]
    dropped = _drop(at.home, rest)
    others = f" Dropped {count(len(dropped), 'other')}." if dropped else ""
    return {"summary": f"{merged['summary']}{others}", "merged": merged, "dropped": dropped}


def drop(home: str, race: str) -> RaceDropped:
    """Delete the worktrees of all its sessions and archive them."""
    dropped = _drop(home, heads_of(home, race)[1])
    summary = f"Dropped {count(len(dropped), 'worktree')}."
    gone = "The worktrees of this race are already gone."
    return {"summary": summary if dropped else gone, "dropped": dropped}


def _drop(home: str, heads: list[Json]) -> list[str]:
    left = [str(head["id"]) for head in heads if worktree.exists(head.get("worktree"))]
    for session in left:
        branch.drop_session(home, session, force=True)
        branch.archive(home, session)
    return left


def has_ended(head: Json) -> bool:
    """Tell whether the session's turn is over, including the critic's verdict."""
    state = state_of(head, awake=head["awake"])
    if head["asks"] or (is_judged(Shown(head)) and head["awake"]):
        return False
    return state in ENDED and (bool(head["reason"]) or state in ("failed", "damaged"))


def compared(home: str, head: Json) -> Runner:
    state = state_of(head, awake=head["awake"])
    files, added, removed = _size(head)
    tests, spent, seconds = _results(home, head)
    ended = lenient.text(head.get("worktree"), "state")
    state = ended if ended in (worktree.MERGED, worktree.DROPPED) else _word(head, state)
    costs = {str(key): float(value) for key, value in lenient.mapping(spent, "cost").items()}
    return {
        "session": str(head["id"]),
        "agent": str(head["agent"]),
        "state": state,
        "branch": lenient.text(head.get("worktree"), "branch"),
        "files": files,
        "added": added,
        "removed": removed,
        "tests": tests,
        "cost": costs,
        "tokens": lenient.integer(spent, "tokens") or 0,
        "seconds": seconds,
    }


def _word(head: Json, state: str) -> str:
    if state not in ("idle", "asleep"):
        return state
    reason = str(head["reason"])
    return {"end_turn": "done", "": "not-begun"}.get(reason, reason)


def _size(head: Json) -> tuple[int | None, int, int]:
    try:
        changes = [file.change for file in branch.changes_of(head).files]
    except (NoDiff, NoWorktree, OSError):
        return None, 0, 0
    return len(changes), sum(e.added or 0 for e in changes), sum(e.removed or 0 for e in changes)


def _results(home: str, head: Json) -> tuple[str, Json, float]:
    try:
        with Reader.open(paths.session_dir(home, head["id"])) as log:
            events = log.of_kinds("_critic", "_prompt", "_turn")
            spent = log.header().spent
    except LogError:
        return "", {}, 0.0
    ends = [event.at for event in events if event.update.get("state") == "idle"]
    seconds = (ends[-1] - events[0].at) / 1000 if ends else 0.0
    by_command = [event.update for event in events if event.update.get("source") == COMMAND]
    if is_judged(Shown(head)):
        return RUNNING, spent, seconds
    if not by_command or not isinstance(by_command[-1].get("accepted"), bool):
        return "", spent, seconds
    return PASSED if by_command[-1]["accepted"] else FAILED, spent, seconds
