"""The states of a session in one table: every list, card and header takes its labels, groups and
order from here.

`status` (core/view/fleet) is the coarse word that programs have always been given. The condition is
finer: an idle session may be held, unread or not begun."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.json import Json

NEEDS_YOU, TO_READ, RUNNING, WAITING = "Needs you", "To read", "Running", "Waiting"
IDLE, ASLEEP = "Idle", "Asleep"
GROUPS = (NEEDS_YOU, TO_READ, RUNNING, WAITING, IDLE, ASLEEP)
"""Headings of a list, in their order."""


class State(NamedTuple):
    label: str
    group: str


STATES = {
    "needs-you": State("needs you", NEEDS_YOU),
    "hung": State("hung", NEEDS_YOU),
    "damaged": State("damaged", NEEDS_YOU),
    "failed": State("failed", NEEDS_YOU),
    "to-read": State("to read", TO_READ),
    "running": State("running", RUNNING),
    "limited": State("limited", WAITING),
    "held": State("held", WAITING),
    "waiting": State("waiting for a worker", WAITING),
    "not-begun": State("not begun", IDLE),
    "not-loaded": State("not loaded", ASLEEP),
    "idle": State("idle", IDLE),
    "asleep": State("asleep", ASLEEP),
}
"""The states by condition; within a group, earlier rows are listed first."""

ENDINGS = {
    "agent_exited": "the agent exited",
    "failed": "the turn failed",
    "interrupted": "the worker ended",
    "orphaned": "the agent went silent",
    "unresponsive": "the agent did not respond",
    "rate_limited": "rate limited",
    "max_tokens": "token limit",
    "max_turn_requests": "request limit",
    "refusal": "refused",
}
"""Why a turn did not end well, by its reason."""

_RANKS = {condition: rank for rank, condition in enumerate(STATES)}


def standing(head: Json, status: str) -> Json:
    """Return the fields that lists add to a head, or to a block of one: the condition (a key of
    STATES), its group, and when it began, in milliseconds since the epoch."""
    condition = _condition(head, status)
    return {
        "condition": condition,
        "group": _group(condition, awake=head.get("awake", False), unread=head["unread"]),
        "began": _began(head, condition),
    }


def _condition(head: Json, status: str) -> str:
    if head.get("hung"):  # known only where the worker was asked
        return "hung"
    if status not in ("idle", "asleep"):
        return status
    if head["queue"]:
        return "held"
    if head["unread"]:
        return "to-read"
    if head.get("unloaded"):  # unknown to workers of earlier builds
        return "not-loaded"
    return status if head["turn"] else "not-begun"


def _group(condition: str, *, awake: bool, unread: bool) -> str:
    """Return the condition's group; a failure that was read counts as idle or asleep."""
    if condition == "failed" and not unread:
        return IDLE if awake else ASLEEP
    return STATES[condition].group if condition in STATES else IDLE


def _began(head: Json, condition: str) -> int:
    if condition == "needs-you":  # the head of an earlier build does not say when it asked
        return int(head.get("asked") or head["at"])
    return int(head["since"] or head.get("created") or head["at"])


def in_order(listed: Iterable[Json]) -> list[Json]:
    """Sort by group and state, then pinned first, then the latest change first. Each entry has the
    fields that `standing` returns."""
    return sorted(listed, key=_place)


def _place(listed: Json) -> tuple[int, int, bool, int]:
    group = GROUPS.index(listed["group"]) if listed["group"] in GROUPS else len(GROUPS)
    by_age = listed["group"] in (IDLE, ASLEEP)
    rank = 0 if by_age else _RANKS.get(listed["condition"], len(_RANKS))
    return group, rank, not listed["pinned"], -listed["began"]


def label_of(condition: str, *, queued: int = 0, until: str = "") -> str:
    """Return a condition's label: `needs you`, `limited until 09:00`, `held (3 queued)`. An unknown
    one is shown as it is: a newer daemon may have more conditions."""
    state = STATES.get(condition)
    label = state.label if state else condition.replace("-", " ").replace("_", " ")
    if condition == "limited" and until:
        return f"{label} until {until}"
    return f"{label} ({queued} queued)" if condition == "held" and queued else label
