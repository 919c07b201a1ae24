"""When a worker stops by itself: when idle for long, or when abandoned. Nothing is lost: the next
prompt wakes the session again.

Also the events that the next holder of the lock logs about a session whose worker died."""

from typing import NamedTuple

from rookery.core import budgets
from rookery.core.asks.kept_asks import live
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import Header
from rookery.core.json import Draft, Json
from rookery.core.limits import Policy
from rookery.core.tools import terminals

HIDING = ("archived", "snoozed")
"""The states that hide a session from lists; each is also the reason for which it goes to sleep."""


class Rest(NamedTuple):
    event_at: float
    """When the log last grew."""
    left_at: float | None
    """When the last client left; None: one is attached."""


def is_idle(header: Header) -> bool:
    """Return whether a session has no turn, queue or review under way, and no agent waits for an
    answer. A kept ask waits as well while the worker is stopped, and so does what waits for a
    budget."""
    judged = header.critic["state"] == ""
    queued = header.queue and budgets.open_ask(header) is None
    return header.state == "idle" and not queued and not live(header) and judged


def is_put_away(header: Header, now: int) -> bool:
    """Return whether the session is archived or snoozed and no turn runs: queued prompts wait in
    the log. `now`: in milliseconds since the epoch."""
    hidden = header.archived or is_snoozed(header, now)
    return bool(hidden and header.state == "idle" and not live(header))


def is_done_with(header: Header, seen: int) -> bool:
    """Return whether the user has read all of an idle session, and nothing in it runs or asks.
    `seen`: the last event that was read."""
    runs = terminals.are_running(header)
    return is_idle(header) and not header.asks and not runs and header.news <= seen


def deadline(
    rest: Rest, policy: Policy, *, idle: bool, done: bool = False
) -> tuple[float, str] | None:
    """Return when the worker stops by itself, and why; None if it does not. `done`: the user is
    done with the session, too."""
    due: list[tuple[float, str]] = []
    if idle and policy.idle_stop_secs > 0:
        due.append((rest.event_at + policy.idle_stop_secs, "idle"))
    if idle and done and rest.left_at is not None and policy.read_stop_secs > 0:
        due.append((max(rest.event_at, rest.left_at) + policy.read_stop_secs, "idle"))
    if rest.left_at is not None and policy.abandoned_after > 0:
        # A turn that is silent that long counts as abandoned, too.
        due.append((max(rest.event_at, rest.left_at) + policy.abandoned_after, "abandoned"))
    return min(due, default=None)


def post_mortem(header: Header, detail: str = "") -> list[Draft]:
    """Return the events that end what a dead worker left open; none if it left nothing open."""
    drafts: list[Draft] = []
    if header.state != "idle":
        update: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": header.turn}
        update |= {"reason": "interrupted"} | ({"detail": detail} if detail else {})
        drafts.append(Draft(update))
    if header.process["state"] in ("starting", "ready"):
        name = header.process.get("name", header.agent)
        gone: Json = {"sessionUpdate": "_agent", "state": "exited", "name": name}
        drafts.append(Draft(gone | {"reason": "worker_ended"}))
    if header.state == "idle" and header.critic["state"]:
        why = {"sessionUpdate": "_critic", "state": "interrupted", "detail": "the worker was ended"}
        drafts.append(Draft(why, None, "critic"))
    return drafts
