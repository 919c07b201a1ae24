"""The timeout of unanswered asks, if one is set: its clock runs only while a client is attached."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.ask import Ask
from rookery.core.asks.asks import REJECTS, Answer, closed, pick, selected
from rookery.core.blocks.asks import brief
from rookery.core.json import Draft, Json, notice
from rookery.core.units import duration

BY = "rule:ask_timeout"


class Clock(NamedTuple):
    attached: bool = False
    asks: tuple[tuple[str, float], ...] = ()
    """Of each open ask: when it is due while a client is attached, else how many seconds it has."""


def synced(
    clock: Clock, names: Iterable[str], now: float, limit: float, *, attached: bool
) -> Clock:
    """Return the clock for the asks that are open now, running only if a client is attached."""
    if limit <= 0:
        return Clock(attached)
    left = {name: at - now if clock.attached else at for name, at in clock.asks}
    due = {name: at for name, at in clock.asks if clock.attached and attached}
    asks = []
    for name in names:
        seconds = left.get(name, limit)
        asks.append((name, due.get(name, now + seconds) if attached else seconds))
    return Clock(attached, tuple(asks))


def deadline(clock: Clock) -> float | None:
    return min((at for _, at in clock.asks), default=None) if clock.attached else None


def expired(clock: Clock, now: float) -> list[str]:
    return [name for name, at in clock.asks if clock.attached and now >= at]


def timed_out(ask: Ask, limit: float) -> tuple[Answer, Draft]:
    """Return the answer to an ask that timed out, with the notice that says so."""
    reject = None if ask.is_question else pick(ask.options, REJECTS)
    outcome = selected(reject)
    reply: Json = {"action": "cancel"} if ask.is_question else {"outcome": outcome}
    ending = f"was answered with {reject.name or reject.id!r}" if reject else "was cancelled"
    update = closed(ask.id, outcome, name=(reject and reject.name) or "cancelled")
    text = f"No answer within {duration(limit)}: {brief(ask) or 'a question'} {ending}."
    return Answer(Draft(update, None, BY), reply), Draft(notice(text), None, BY)
