"""The session list as a document like any other: its blocks are the sessions' heads (the topic
`fleet`)."""

from collections.abc import Iterable
from functools import cache

from rookery.core import budgets, worktree
from rookery.core.agent.imported import UNLOADED, is_unloaded
from rookery.core.agent.names import own_name
from rookery.core.asks.kept_asks import oldest, unanswered
from rookery.core.blocks import Block, make_block
from rookery.core.clock_slip import CLOCK_SLIP, is_snoozed
from rookery.core.header import EMPTY, Header, Shown
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals, modes
from rookery.core.settings.sandbox import NONE
from rookery.core.turn.rate_limit import limited_until
from rookery.core.view import last_line, states
from rookery.core.view.doing import standing

FAILED = frozenset({"failed", "agent_exited", "unresponsive", "orphaned", "interrupted"})
"""Reasons for which a turn ended."""

WORKING = frozenset({"needs-you", "running"})

STATUSES = ("needs-you", "damaged", "failed", "limited", "running", "waiting", "idle", "asleep")
"""The values that `state_of` returns."""

NO_TITLE = "(no title)"

TIMES = ("at", "since", "created")
"""The fields of a head that hold times of events."""

LATER = (
    *("waiting", "doing", "sandbox", "worktree", "race", "paused", "hidden", "snoozedAt"),
    *("asked", "limitedUntil", "agentName", "unloaded", "limits", "resumes"),
)
"""The fields of a head that workers of earlier builds do not write."""

SHOWN = (
    *("id", "title", "agent", "cwd", "roots", "created", "archived", "snoozed", "pinned"),
    *("state", "reason", "turn", "since", "last", "model", "mode", "confirm", "neverAsks"),
    *("decides", "unattended", "news", "usage", "worktree", "race", "hidden"),
)
"""Fields of a header that its head has as they are."""


def head_of(header: Header, seq: int, at: int) -> Json:
    """Return the head: all a list needs to know of a session without opening its log. It is written
    to head.json."""
    plan, process, queue = header.plan, header.process, header.queue
    return {key: header.raw[key] for key in SHOWN} | {
        "v": 1,
        "last": UNLOADED if is_unloaded(header) else last_line.plain(header.last),
        "unloaded": is_unloaded(header),
        "mode": header.mode or (approvals.PLAN if modes.is_planning(header) else ""),
        "snoozedAt": header.snoozed_at or 0,
        "guard": lenient.text(process, "guard"),
        "sandbox": header.sandbox or NONE,
        "process": process["state"],
        "agentName": own_name(header),
        "asks": unanswered(header),
        "asked": oldest(header),
        "doing": standing(header),
        "queue": len(queue),
        "paused": budgets.scope_of(budgets.open_ask(header)),
        "waiting": any(item.get("placeless") for item in queue),
        "plan": [sum(entry["status"] == "completed" for entry in plan), len(plan)],
        "rateLimited": header.rate_limit is not None,
        "limitedUntil": limited_until(header),
        "limits": header.limits,
        "resumes": header.resumes,
        "critic": {key: header.critic[key] for key in ("state", "iteration", "of", "score")},
        "seq": seq,
        "at": at,
    }


def is_sound(head: Json) -> bool:
    """Return whether a head read from a file has every field that lists rely on, with the right
    type. A head is only a fold: one that is not sound is folded again."""
    pattern = _pattern()
    return head.get("v") == pattern["v"] and all(
        isinstance(head.get(key), dict | None if value is None else type(value)) and key in head
        for key, value in pattern.items()
    )


@cache
def _pattern() -> Json:
    return {key: value for key, value in head_of(EMPTY, 0, 0).items() if key not in LATER}


def bounded(head: Json, now: float) -> Json:
    """Return the head with future times cut to now: a clock that was wrong for a moment must not
    keep a session on top of lists, nor from being pruned."""
    if all(head[key] <= now + CLOCK_SLIP for key in TIMES):
        return head
    capped = head | {key: min(head[key], int(now)) for key in TIMES}
    return capped if "snoozedAt" in head else capped | {"snoozed": 0}


def is_hidden(head: Json, now: float) -> bool:
    """Return whether lists leave the session out."""
    return bool(head["archived"]) or is_snoozed(Shown(head), now)


def is_unread(head: Json, seen: int) -> bool:
    """Return whether the session ended a turn, or asked, after the last event that was seen."""
    return bool(head.get("news", 0) > seen)  # the head of an earlier build has none


def state_of(head: Json, *, awake: bool) -> str:
    """Return the session's status, one word for programs. Lists show a finer one:
    `states.standing`."""
    if head.get("damaged"):  # of a stand-in: nothing else is known
        return "damaged"
    if head["asks"]:  # also asleep: an answer wakes it
        return "needs-you"
    if head["state"] != "idle":
        return "running" if awake else "failed"
    if awake and is_judged(Shown(head)):
        return "running"
    if head.get("waiting") and not awake:  # the head of an earlier build has none
        return "waiting"
    if head["reason"] in FAILED or is_parked(head):
        return "failed"
    if head["reason"] == "rate_limited":
        return "limited"
    return "idle" if awake else "asleep"


def is_parked(head: Json) -> bool:
    """Return whether its agent, or its worker, died so often that it is not restarted
    automatically."""
    return bool(head["process"] == "parked")


def is_judged(head: Shown) -> bool:
    """Return whether its turn is over but the critic's verdict is still to come."""
    return bool(head.critic.get("state")) and head.state == "idle"


IN_BLOCK = (
    *("agent", "cwd", "model", "mode", "turn", "since", "at"),
    *("asks", "queue", "plan", "usage", "pinned"),
)
IN_SOME = {"unread": False, "doing": "", "paused": "", "sandbox": NONE}
IN_SOME |= {"agentName": "", "limitedUntil": 0}
"""The head of an earlier build has none of these."""


def fleet_block(head: Json, *, awake: bool) -> Block:
    fields = {field: head[field] for field in IN_BLOCK}
    fields |= {field: head.get(field, default) for field, default in IN_SOME.items()}
    fields["branch"] = worktree.brief(head.get("worktree"))
    fields["worktree"] = worktree.exists(head.get("worktree"))
    status, title = state_of(head, awake=awake), head["title"] or NO_TITLE
    fields |= states.standing({"unread": False, **head, "awake": awake}, status)
    return make_block(
        head["id"], "session", title=title, text=head["last"], status=status, **fields
    )


def others_here(session: str, cwd: str, rows: Iterable[tuple[str, str, str]]) -> int:
    """Count the other sessions that work in a directory. `rows`: each session's id, directory and
    state."""
    return sum(
        there == cwd and status in WORKING and name != session for name, there, status in rows
    )
