"""Watchdogs for a turn that makes no progress.

    quiet   nothing streamed for a while and nothing in flight: the user may end the turn
    silent  it had made progress, and then nothing more came: the turn is cancelled

Work that goes on outside the protocol lengthens the grace period of the second one."""

from typing import NamedTuple

from rookery.core.json import Json, dumps, kind_of, lenient
from rookery.core.limits import Policy
from rookery.core.units import duration
from rookery.core.vendors.profiles import Profile

PROGRESS = frozenset(
    {
        *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
        *("tool_call", "tool_call_update", "plan", "plan_update", "plan_removed"),
        *("_child", "subagent_update", "session_message", "session_message_chunk"),
    }
)
"""Commands, modes, titles and usage without cost are none."""

ASYNC = "Async agent launched successfully"
BACKGROUND = "Command running in background with ID:"
WAKE_UP = "ScheduleWakeup"


class Watch(NamedTuple):
    running: bool = False
    busy: bool = False
    """Something is in flight: a tool, an ask, a call of the agent's."""
    streamed: float = 0.0
    """When the agent last sent anything."""
    sign: str = ""
    """The last sign of progress in this prompt; "": there was none yet."""
    sign_at: float = 0.0
    paid: bool = False
    """Usage with cost arrived: the model's part of the turn is over."""
    off_protocol: frozenset[str] = frozenset()
    """Work that goes on without a word: async, background, wake-up."""
    wake: float = 0.0
    """When the latest wake-up is due."""
    quiet: bool = False


class Quiet(NamedTuple):
    """Report that nothing has come for a while, and offer to end the turn."""

    after: float


class Moving(NamedTuple):
    """Report that the turn makes progress again."""


class Silent(NamedTuple):
    """Give up the turn."""

    why: str


type Effect = Quiet | Moving | Silent


def began(now: float) -> Watch:
    return Watch(running=True, streamed=now)


def ended(watch: Watch) -> Watch:
    return watch._replace(running=False)


def in_flight(watch: Watch, *, busy: bool, now: float) -> Watch:
    """Record whether something is in flight; as long as it is, that counts as progress."""
    if busy == watch.busy:
        return watch
    return watch._replace(busy=busy, streamed=now, sign_at=now)


def heard(watch: Watch, update: Json, now: float, profile: Profile) -> tuple[Watch, list[Effect]]:
    """Record an update from the agent."""
    if not watch.running:
        return watch, []
    effects: list[Effect] = [Moving()] if watch.quiet else []
    watch = watch._replace(streamed=now, quiet=False)
    kind = kind_of(update)
    if kind in PROGRESS:
        watch = watch._replace(sign=kind, sign_at=now)
    cost = lenient.number(lenient.mapping(update, "cost"), "amount")
    if kind == "usage_update" and cost is not None:
        # A background command was fire and forget: it no longer holds the turn open.
        rest = watch.off_protocol - {"background"}
        watch = watch._replace(sign="usage with cost", sign_at=now, paid=True, off_protocol=rest)
    if kind in ("tool_call", "tool_call_update"):
        watch = _off_protocol(watch, update, now, profile)
    return watch, effects


def _off_protocol(watch: Watch, call: Json, now: float, profile: Profile) -> Watch:
    if not (profile.async_agents or profile.background or profile.wake_ups):
        return watch
    given = lenient.mapping(call, "rawInput")
    brought = [call.get("content") or None, call.get("rawOutput")]
    output = dumps(brought) if any(each is not None for each in brought) else ""
    kinds = set(watch.off_protocol)
    if profile.async_agents and ASYNC in output:
        kinds.add("async")
    if profile.background and (given.get("run_in_background") is True or BACKGROUND in output):
        kinds.add("background")
    delay = lenient.number(given, "delaySeconds")
    names = (lenient.text(call, "title"), lenient.text(call, "name"))
    if profile.wake_ups and delay is not None and any(WAKE_UP in name for name in names):
        kinds.add("wake-up")
        watch = watch._replace(wake=max(watch.wake, now + delay))
    return watch._replace(off_protocol=frozenset(kinds))


def deadline(watch: Watch, policy: Policy, profile: Profile) -> float | None:
    due = (_quiet_at(watch, policy), _silent_at(watch, policy, profile))
    return min((at for at in due if at is not None), default=None)


def ticked(
    watch: Watch, now: float, policy: Policy, profile: Profile
) -> tuple[Watch, list[Effect]]:
    silent_at = _silent_at(watch, policy, profile)
    if silent_at is not None and now >= silent_at:
        lasted = now - watch.sign_at
        why = f"silent for {duration(lasted)} since the last sign of progress ({watch.sign})"
        return ended(watch), [Silent(why)]
    quiet_at = _quiet_at(watch, policy)
    if quiet_at is not None and now >= quiet_at:
        return watch._replace(quiet=True), [Quiet(now - watch.streamed)]
    return watch, []


def _quiet_at(watch: Watch, policy: Policy) -> float | None:
    if not watch.running or watch.busy or watch.quiet or policy.force_end_after <= 0:
        return None
    return watch.streamed + policy.force_end_after


def _silent_at(watch: Watch, policy: Policy, profile: Profile) -> float | None:
    if not watch.running or watch.busy or not watch.sign or policy.silent_after <= 0:
        return None
    grace = policy.silent_after
    if watch.paid and profile.cost_ends:
        grace = policy.silent_after_cost
    if watch.off_protocol:
        grace = max(grace, policy.off_protocol_grace)
    at = watch.sign_at + grace
    return max(at, watch.wake + policy.off_protocol_grace) if watch.wake else at
