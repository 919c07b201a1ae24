"""A race: the same prompt to several agents, each in a worktree of its own; and what each made of
it. The sessions of a race have its id in their headers; there is no other record."""

import os
import re
from typing import NamedTuple

from rookery.client import fleet
from rookery.client.work_tree.changes import NoDiff
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.critic.verdicts import COMMAND
from rookery.core.json import Json, lenient
from rookery.core.view.fleet import is_judged, state_of
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.merging.session import (
    archive,
    changes_of,
    drop_session,
    merge_session,
    told_before,
)

LATEST = "latest"
PASSED, FAILED, RUNNING = "passed", "failed", "running"
ENDED = frozenset({"idle", "asleep", "failed", "limited", "damaged"})


class NoRace(NoWorktree):
    """There is none of that name."""


class Runner(NamedTuple):
    """One session of a race."""

    session: str
    agent: str
    state: str
    branch: str
    files: int | None
    added: int
    removed: int
    tests: str
    """By the critic's command: passed, failed, running; "": it judged nothing."""
    cost: dict[str, float]
    """By currency."""
    tokens: int
    seconds: float


def new_name() -> str:
    return os.urandom(3).hex()


def labels(agents: list[str]) -> list[str]:
    """A name of a branch for each; the second of the same agent is another."""
    found: list[str] = []
    for agent in agents:
        plain = re.sub(r"[^\w.-]+", "-", agent).strip("-.") or "agent"
        number = sum(each == plain or each.startswith(f"{plain}-") for each in found)
        found.append(f"{plain}-{number + 1}" if number else plain)
    return found


def heads_of(home: str, race: str = "") -> tuple[str, list[Json]]:
    """A race by its id or its beginning, the latest by default, with the heads of its sessions in
    the order in which they were made. Raises NoRace."""
    known = [head for head in fleet.heads(home) if lenient.text(head, "race")]
    named = [head for head in known if head["race"].startswith(race)]
    if not named:
        words = f"There is no race {race!r}." if race else "There are no races."
        raise NoRace("no_race", words, 'rookery race --agents a,b "…" starts one.')
    name = max(named, key=lambda head: int(head["created"] or 0))["race"]
    if race and len({head["race"] for head in named}) > 1 and race != name:
        raise NoRace("ambiguous", f"{race!r} matches more than one race.", "Use its whole id.")
    of_it = [head for head in known if head["race"] == name]
    return str(name), sorted(of_it, key=lambda head: (int(head["created"] or 0), head["id"]))


def table(home: str, race: str = "") -> tuple[str, list[Runner]]:
    """A race's id, and its sessions compared; by default, of the latest one. Raises NoRace."""
    name, heads = heads_of(home, "" if race == LATEST else race)
    return name, [compared(home, head) for head in heads]


def pick(home: str, session: str, how: str, message: str, *, again: bool = False) -> Json:
    """Merge one, then drop the rest: `merged` and `dropped`. If the merge fails, nothing is
    dropped. `again`: it may be merged already. Raises NoRace, NoWorktree, FromAgent."""
    head = fleet.head_of_session(home, session)
    if head is None or not lenient.text(head, "race"):
        raise NoRace("no_race", f"Session {session} is in no race.")
    merged = told_before(home, session, how) if again else None
    if merged is None and _size(head)[0] == 0:
        words = f"Session {session} changed nothing, so there is nothing to merge."
        remedy = f"Pick another, or drop all of them: rookery race drop {head['race']}"
        raise NoRace("changed_nothing", f"{words} Nothing was dropped.", remedy)
    merged = merged or merge_session(home, session, how, message)
    rest = [each for each in heads_of(home, head["race"])[1] if each["id"] != session]
    return {"merged": merged, "dropped": _drop(home, rest)}


def drop(home: str, race: str) -> list[str]:
    """Delete the worktrees of all its sessions and archive them; the ids."""
    return _drop(home, heads_of(home, race)[1])


def _drop(home: str, heads: list[Json]) -> list[str]:
    left = [str(head["id"]) for head in heads if worktree.exists(head.get("worktree"))]
    for session in left:
        drop_session(home, session, force=True)
        archive(home, session)
    return left


def has_ended(head: Json) -> bool:
    """Its turn is over, and so is what the critic had to say."""
    state = state_of(head, awake=head["awake"])
    if head["asks"] or (is_judged(head) and head["awake"]):
        return False
    return state in ENDED and (bool(head["reason"]) or state in ("failed", "damaged"))


def compared(home: str, head: Json) -> Runner:
    state = state_of(head, awake=head["awake"])
    files, added, removed = _size(head)
    tests, spent, seconds = _told(home, head)
    ended = lenient.text(head.get("worktree"), "state")
    state = ended if ended in (worktree.MERGED, worktree.DROPPED) else _word(head, state)
    about = (head["id"], head["agent"], state, lenient.text(head.get("worktree"), "branch"))
    costs = {str(key): float(value) for key, value in lenient.mapping(spent, "cost").items()}
    tokens = lenient.integer(spent, "tokens") or 0
    return Runner(*about, files, added, removed, tests, costs, tokens, seconds)


def _word(head: Json, state: str) -> str:
    if state not in ("idle", "asleep"):
        return state
    reason = str(head["reason"])
    return {"end_turn": "done", "": "not-begun"}.get(reason, reason)


def _size(head: Json) -> tuple[int | None, int, int]:
    try:
        found = [file.change for file in changes_of(head).files]
    except (NoDiff, NoWorktree, OSError):
        return None, 0, 0
    return len(found), sum(e.added or 0 for e in found), sum(e.removed or 0 for e in found)


def _told(home: str, head: Json) -> tuple[str, Json, float]:
    try:
        with Reader.open(paths.session_dir(home, head["id"])) as log:
            events = log.of_kinds("_critic", "_prompt", "_turn")
            spent = log.header()["spent"]
    except LogError:
        return "", {}, 0.0
    ends = [event.at for event in events if event.update.get("state") == "idle"]
    seconds = (ends[-1] - events[0].at) / 1000 if ends else 0.0
    by_command = [event.update for event in events if event.update.get("source") == COMMAND]
    if is_judged(head):
        return RUNNING, spent, seconds
    if not by_command or not isinstance(by_command[-1].get("accepted"), bool):
        return "", spent, seconds
    return PASSED if by_command[-1]["accepted"] else FAILED, spent, seconds
