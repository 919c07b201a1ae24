"""The state of a session in words, the same in every face. A waiting session never looks busy."""

from typing import NamedTuple

from rookery.core import budgets
from rookery.core.asks.kept_asks import unanswered
from rookery.core.json import Json, lenient
from rookery.core.turn import retries
from rookery.core.turn.remedies import WORKER_DIED
from rookery.render.local_time import clock_time
from rookery.render.plain import clean_line

ENDS = {
    "max_tokens": "token limit",
    "max_turn_requests": "request limit",
    "refusal": "refused",
    "orphaned": "went silent",
    "unresponsive": "did not respond",
    "agent_exited": "the agent exited",
}
"""Why a turn ended, in short; the notice in the transcript says more."""

KINDS = {"network": "model unreachable", "auth": "not logged in", "context": "context is full"}
"""The same, by the kind of its error."""

ENDED_WELL = ("", "end_turn", "cancelled", "forced", "waiting")


class Said(NamedTuple):
    sign: str
    """needs-you, running, warn, failed or idle."""
    words: str
    since: int | None = None
    """When it began, where the time that passed is shown; in milliseconds of the epoch."""
    until: int | None = None
    """When it is over, where the time that is left is shown."""


def said(header: Json, at: int) -> Said:
    since = int(header["since"])
    process, reason = lenient.text(header["process"], "state"), header["reason"]
    if unanswered(header):
        words = "needs you" if budgets.open_ask(header) is None else "needs you: budget reached"
        return Said("needs-you", words, _asked(header, at))
    if header["state"] == "quiet":
        return Said("warn", "quiet", since)
    if header["state"] == "running" and lenient.text(header, "stopping"):
        return Said("warn", "stopping: budget reached", since)
    if header["state"] == "running" and header["retrying"]:
        return _retrying(header, at, since)
    if header["state"] == "running":
        return Said("running", "starting" if process == "starting" else "working", since)
    if lenient.text(header["process"], "reason") == WORKER_DIED:
        return Said("failed", "does not start")
    if reason == "rate_limited":
        return Said("warn", _limited(header, at))
    if reason not in ENDED_WELL:
        kind = lenient.text(lenient.mapping(header["error"], "data"), "errorKind")
        known = KINDS.get(kind) if reason == "failed" else ENDS.get(reason)
        return Said("failed", known or clean_line(reason, 60).replace("_", " "))
    return Said("failed", "does not start") if process == "parked" else Said("idle", "ready")


def _asked(header: Json, at: int) -> int:
    """When the first open ask came."""
    times = [lenient.integer(ask, "at") or at for ask in header["asks"].values()]
    return min(times, default=at)


def _limited(header: Json, at: int) -> str:
    from rookery.core.turn import rate_limit  # not needed for the first paint

    reset = rate_limit.reset_of(header["rateLimit"] or {}, header["since"])
    until = clock_time(reset, at) if reset is not None else ""
    return f"rate limit until {until}" if until else "rate limit"


def _retrying(header: Json, at: int, since: int) -> Said:
    """`retrying 3 of 5`, and when."""
    retry = lenient.mapping(header, "retry")
    attempt, of = lenient.integer(retry, "attempt"), lenient.integer(retry, "of")
    until = lenient.integer(retry, "until")
    words = "retrying"
    if attempt is not None:
        words += f" {attempt}" + (f" of {of}" if of else "")
    words = f"model unreachable · {words}" if retries.is_unreachable(header) else words
    if until is not None and until > at:
        return Said("warn", words, until=until)
    return Said("warn", words, since)
