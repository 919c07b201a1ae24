"""The state of a session in words, the same in every face: a label of core/view/states, and after a
colon what is particular. A waiting session never looks busy."""

from typing import NamedTuple

from rookery.core import budgets
from rookery.core.asks.kept_asks import unanswered
from rookery.core.json import Json, lenient
from rookery.core.turn import retries
from rookery.core.turn.remedies import WORKER_DIED
from rookery.core.vendors import logins
from rookery.core.view import states
from rookery.core.view.fleet import FAILED, is_judged
from rookery.render.local_time import ago
from rookery.render.plain import clean_line
from rookery.render.signs import limited

WHY = 80
"""Characters of why a turn failed."""


class Said(NamedTuple):
    sign: str
    """A key of render/signs."""
    words: str
    since: int | None = None
    """When it began, where the time that passed is shown; in milliseconds of the epoch."""
    until: int | None = None
    """When it is over, where the time that is left is shown."""


def said(header: Json, at: int, *, awake: bool | None = None) -> Said:
    """`awake`: whether it has a worker; None: what its log says last of the agent decides."""
    since = int(header["since"])
    if unanswered(header):
        more = "" if budgets.open_ask(header) is None else "budget reached"
        return Said("needs-you", _label("needs-you", more), _asked(header, at))
    if header["state"] != "idle" or (is_judged(header) and awake is not False):
        return _running(header, at, since)
    process, reason = lenient.text(header["process"], "state"), header["reason"]
    if lenient.text(header["process"], "reason") == WORKER_DIED:
        return Said("failed", _label("failed", "does not start"))
    if reason == "rate_limited":
        from rookery.core.turn import rate_limit  # not needed for the first paint

        return Said("limited", limited(rate_limit.limited_until(header), at))
    if reason in FAILED:
        return Said("failed", _label("failed", _why(header)))
    if process == "parked":
        return Said("failed", _label("failed", "does not start"))
    if held := sum(not item.get("placeless") for item in header["queue"]):
        return Said("held", states.label_of("held", queued=held))
    if header["queue"]:
        return Said("waiting", states.label_of("waiting"))
    if lenient.text(header["agentSession"], "unloaded"):
        return Said("not-loaded", states.label_of("not-loaded"))
    if not header["turn"]:
        return Said("not-begun", states.label_of("not-begun"))
    condition = "asleep" if (_has_ended(header) if awake is None else not awake) else "idle"
    why = _why(header) if reason not in ("", "end_turn") else ""
    return Said("warn" if why else condition, _label(condition, why))


def _has_ended(header: Json) -> bool:
    """Whether the worker ended the agent with itself, as far as the log tells."""
    process = header["process"]
    own_doing = not process.keys() & {"status", "link"}
    return process["state"] in ("stopped", "absent") or (process["state"] == "exited" and own_doing)


def _why(header: Json) -> str:
    from rookery.core.view.doing import why_ended  # not needed for the first paint

    return clean_line(why_ended(header), WHY)


def _label(condition: str, more: str = "") -> str:
    return states.label_of(condition) + (f": {more}" if more else "")


def _running(header: Json, at: int, since: int) -> Said:
    if header["state"] == "quiet":
        return Said("warn", _label("running", "quiet"), since)
    if lenient.text(header, "stopping"):
        return Said("warn", _label("running", "stopping, budget reached"), since)
    if header["retrying"]:
        return _retrying(header, at, since)
    starts = lenient.text(header["process"], "state") == "starting"
    return Said("running", _label("running", "starting" if starts else ""), since)


def _asked(header: Json, at: int) -> int:
    """When the first open ask came."""
    times = [lenient.integer(ask, "at") or at for ask in header["asks"].values()]
    return min(times, default=at)


def _retrying(header: Json, at: int, since: int) -> Said:
    """`running: retrying 3 of 5`, and when."""
    retry = lenient.mapping(header, "retry")
    attempt, of = lenient.integer(retry, "attempt"), lenient.integer(retry, "of")
    until = lenient.integer(retry, "until")
    words = "retrying"
    if attempt is not None:
        words += f" {attempt}" + (f" of {of}" if of else "")
    words = f"model unreachable, {words}" if retries.is_unreachable(header) else words
    if until is not None and until > at:
        return Said("warn", _label("running", words), until=until)
    return Said("warn", _label("running", words), since)


def login_words(state: str, account: str, at: int, now: float) -> str:
    """What a list says about an agent's login: `not logged in (2 h ago)`, `logged in: Claude Max`;
    "": nothing is known. Both times in milliseconds."""
    if state == logins.OUT:
        return f"not logged in ({ago(at, now)})"
    if state == logins.IN:
        return f"logged in: {account}" if account else "logged in"
    return ""
