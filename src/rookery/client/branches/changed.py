"""What a session changed, by its snapshots: only what its own turns did, also where the user and
other sessions work in the same directory.

Each turn is a step from the snapshot at its prompt to the one at its end. Where another session's
turn ran at the same time, a file that only that session's calls name is taken for its doing.
"""

import json
import math
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.client import fleet
from rookery.client.branches.session import changes_of
from rookery.client.environment import kept_of
from rookery.client.rewind.turns import snapshot_file_bytes
from rookery.client.work_tree.changes import Changes, NoDiff, changes, parsed
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.snapshots import between, job
from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import Store

NOW = "now"
"""In place of a snapshot: the files as they are."""

LOOKING = frozenset({"read", "search", "fetch", "think"})
"""Kinds of calls that change nothing."""

CALLS = ("tool_call", "tool_call_update")


class NoSnapshots(Exception):
    """The message says why there are none."""


class Step(NamedTuple):
    turn: int
    before: str
    after: str


class Changed(NamedTuple):
    changes: Changes
    of: str
    """Whose changes these are: of the session, of its worktree, or of the directory."""
    note: str = ""
    """What a reader has to know about that."""


def changed(home: str, head: Json) -> Changed:
    """What a session changed; of one with a worktree, since that was made; where there are no
    snapshots, all that differs in its directory. Raises NoDiff, NoWorktree, LogError."""
    tree = head.get("worktree")
    if isinstance(tree, dict) and tree.get("path"):
        return Changed(changes_of(head), "worktree")
    try:
        return _by_snapshots(home, str(head["id"]))
    except (NoSnapshots, Unfit, OSError) as error:
        cwd = str(head["cwd"])
        why = f"It is not known what this session alone changed. {error}"
        try:
            found = changes(cwd)
        except NoDiff as other:
            raise NoDiff(other.name, f"{why} {other}") from None
        return Changed(
            found, "directory", f"{why} These are all changes in {cwd} since the last commit."
        )


def _by_snapshots(home: str, session: str) -> Changed:
    directory = paths.session_dir(home, session)
    with Reader.open(directory) as log:
        header = log.header()
        found = log.of_kinds(rewinding.SNAPSHOT, rewinding.KIND)
        taken = steps(found, header["turn"])
        if not taken and header["turn"]:
            raise NoSnapshots(_why_none(found))
        spans = _spans(log, [step.turn for step in taken])
        rivals = _rivals(home, session, header["cwd"], spans)
        own = {turn: _calls(log, turn) for turn in rivals}
    theirs = set[str]()

    def is_own(number: int, path: str) -> bool:
        turn, name = taken[number].turn, os.path.basename(path)
        named = [other for other, text in rivals.get(turn, {}).items() if name in text]
        if not named or name in own[turn]:
            return True
        theirs.update(named)
        return False

    data = _difference(home, directory, header["cwd"], taken, is_own) if taken else b""
    names = ", ".join(sorted(theirs))
    note = f"Without what others changed here at the same time ({names})." if theirs else ""
    return Changed(parsed(data), "session", note)


def _difference(
    home: str, directory: str, cwd: str, taken: Sequence[Step], is_own: between.Mine
) -> bytes:
    """Raises NoSnapshots, Unfit, OSError."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    request = job.request(directory, cwd, kept_of(saved), snapshot_file_bytes(home))
    if request is None:
        raise NoSnapshots(job.NO_GIT)
    place = (request[key] for key in ("store", "git", "root", "home", "environment"))
    with Store.opened(*place) as store:
        needs_now = any(step.after == NOW for step in taken)
        now = store.take(request["most"]).id if needs_now else ""
        pairs = [(step.before, now if step.after == NOW else step.after) for step in taken]
        return between.difference(store, pairs, is_own)


def _why_none(events: Iterable[Event]) -> str:
    refused = [lenient.text(event.update, "message") for event in events]
    return next(filter(None, reversed(refused)), "There are no snapshots of it (worker.snapshots).")


# --- its turns -----------------------------------------------------------------------------------


def steps(events: Iterable[Event], last: int) -> list[Step]:
    """A step for each turn whose changes stand: a rewind of the files takes later ones away, and to
    undo it brings them back. `last`: the newest turn, which may still be running."""
    live, undone = dict[int, Step](), dict[int, Step]()
    starts, newest = dict[int, str](), ""
    for event in events:
        update, name = event.update, lenient.text(event.update, "id")
        turn = lenient.integer(update, "turn") or 0
        if kind_of(update) == rewinding.KIND:
            if update.get("state") == "done" and update.get("files") is True:
                rest = {n: step for n, step in live.items() if n <= turn}
                live, undone = (undone if update.get("undo") is True else rest), live
                starts = {}
        elif name:
            if update.get("when") == "prompt":
                if turn - 1 in starts and turn - 1 not in live:  # its end was not seen
                    live[turn - 1] = Step(turn - 1, starts[turn - 1], name)
                late = update.get("late") is True
                starts[turn] = newest if late and newest else name
            elif update.get("when") == "end":
                live[turn] = Step(turn, starts.get(turn, newest or name), name)
                starts[turn] = live[turn].before
            newest = name
    begun = starts.get(last, "") if last in starts else newest
    if last and last not in live and last not in undone and begun:
        live[last] = Step(last, begun, NOW)
    return [live[turn] for turn in sorted(live)]


# --- whose doing ---------------------------------------------------------------------------------


class Span(NamedTuple):
    turn: int
    begins: int
    ends: float
    """Milliseconds of the epoch: when its last snapshot was taken; endless: it is running."""


def _spans(log: Reader, turns: Iterable[int]) -> list[Span]:
    ends: dict[int, int] = {}
    for event in log.of_kinds("_turn", rewinding.SNAPSHOT):
        if event.update.get("state") == "idle" or event.update.get("when") == "end":
            ends[lenient.integer(event.update, "turn") or 0] = event.at
    return [Span(turn, log.spans(turn)[0], ends.get(turn, math.inf)) for turn in turns]


def _rivals(home: str, session: str, cwd: str, spans: Sequence[Span]) -> dict[int, dict[str, str]]:
    """By turn: the other sessions of the directory that had a turn at the same time, each with what
    its calls name."""
    found: dict[int, dict[str, str]] = {}
    if not spans:
        return found
    place = os.path.realpath(cwd)
    for head in fleet.heads(home):
        there = os.path.realpath(head["cwd"])
        if head["id"] == session or head["at"] < spans[0].begins:
            continue
        if not job.holds(place, there) and not job.holds(there, place):
            continue
        try:
            with Reader.open(paths.session_dir(home, head["id"])) as log:
                _note_overlaps(log, head["id"], spans, found)
        except LogError:
            continue
    return found


def _note_overlaps(
    log: Reader, other: str, spans: Sequence[Span], found: dict[int, dict[str, str]]
) -> None:
    for theirs in _spans(log, range(1, log.turns() + 1)):
        for ours in spans:
            if theirs.begins <= ours.ends and ours.begins <= theirs.ends:
                texts = found.setdefault(ours.turn, {})
                texts[other] = texts.get(other, "") + _calls(log, theirs.turn)


def _calls(log: Reader, turn: int) -> str:
    """What the calls of a turn name that may change something: not what they print."""
    kinds, texts = dict[str, str](), list[str]()
    for event in log.page(turn):
        update = event.update
        if kind_of(update) not in CALLS:
            continue
        call = lenient.text(update, "toolCallId")
        kind = kinds[call] = lenient.text(update, "kind") or kinds.get(call, "")
        if kind not in LOOKING:
            named = [update.get(key) for key in ("title", "rawInput", "locations")]
            named += [part.get("path") for part in lenient.mappings(update, "content")]
            texts.append(json.dumps(named, ensure_ascii=False, default=str))
    return "\n".join(texts)
