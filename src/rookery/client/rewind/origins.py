"""Whose change it was, where several sessions work in one directory: which sessions had a turn at
the same time, and what their calls name."""

import json
import math
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.client import fleet
from rookery.core.json import kind_of, lenient
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.snapshots import job

LOOKING = frozenset({"read", "search", "fetch", "think"})
"""Kinds of calls that change nothing."""

CALLS = ("tool_call", "tool_call_update")


class Span(NamedTuple):
    turn: int
    begins: int
    ends: float
    """Milliseconds of the epoch: when its last snapshot was taken; endless: it is running."""


def spans(log: Reader, turns: Iterable[int]) -> list[Span]:
    ends: dict[int, int] = {}
    for event in log.of_kinds("_turn", rewinding.SNAPSHOT):
        if event.update.get("state") == "idle" or event.update.get("when") == "end":
            ends[lenient.integer(event.update, "turn") or 0] = event.at
    return [Span(turn, log.spans(turn)[0], ends.get(turn, math.inf)) for turn in turns]


def rivals(home: str, session: str, cwd: str, given: Sequence[Span]) -> dict[int, dict[str, str]]:
    """Return, by turn, the other sessions of the directory that had a turn at the same time, each
    with what its calls name."""
    by_turn: dict[int, dict[str, str]] = {}
    if not given:
        return by_turn
    place = os.path.realpath(cwd)
    for head in fleet.heads(home):
        there = os.path.realpath(head["cwd"])
        if head["id"] == session or head["at"] < given[0].begins:
            continue
        if not job.holds(place, there) and not job.holds(there, place):
            continue
        try:
            with Reader.open(paths.session_dir(home, head["id"])) as log:
                _note_overlaps(log, head["id"], given, by_turn)
        except LogError:
            continue
    return by_turn


def _note_overlaps(
    log: Reader, other: str, given: Sequence[Span], by_turn: dict[int, dict[str, str]]
) -> None:
    for theirs in spans(log, range(1, log.turns() + 1)):
        for ours in given:
            if theirs.begins <= ours.ends and ours.begins <= theirs.ends:
                texts = by_turn.setdefault(ours.turn, {})
                texts[other] = texts.get(other, "") + calls(log, theirs.turn)


def calls(log: Reader, turn: int) -> str:
    """Return the text of those calls of a turn that may change something, without what they
    print."""
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
