"""The state of a session as text, the same in every face: a label of core/view/states, and after a
colon the details. A waiting session never looks busy."""

from typing import NamedTuple

from rookery.core import budgets
from rookery.core.ask import asks_of
from rookery.core.asks.kept_asks import unanswered
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.turn import rate_limit, retries
from rookery.core.turn.remedies import WORKER_DIED
from rookery.core.vendors import logins
from rookery.core.view import states
from rookery.core.view.doing import why_ended
from rookery.core.view.fleet import FAILED, is_judged
from rookery.render.local_time import ago
from rookery.render.runs import clean_line
from rookery.render.signs import limited

WHY = 80
"""Characters of why a turn failed."""


class SessionStatus(NamedTuple):
    sign: str
    """A key of render/signs."""
    label: str
    since: int | None = None
    """When it began, where the time that passed is shown; in milliseconds of the epoch."""
    until: int | None = None
    """When it is over, where the time that is left is shown."""


def status_of(header: Header, at: int, *, awake: bool | None = None) -> SessionStatus:
    """Return the status of a session. `awake` says whether it has a worker; with None, the last
    state of the agent in the log decides."""
    since = header.since
    if unanswered(header):
        more = "" if budgets.open_ask(header) is None else "budget reached"
        return SessionStatus("needs-you", _label("needs-you", more), _asked(header, at))
    if header.state != "idle" or (is_judged(header) and awake is not False):
        return _running(header, at, since)
    process, reason = lenient.text(header.process, "state"), header.reason
    if lenient.text(header.process, "reason") == WORKER_DIED:
        return SessionStatus("failed", _label("failed", "does not start"))
    if reason == "rate_limited":
        return SessionStatus("limited", limited(rate_limit.limited_until(header), at))
    if reason in FAILED:
        return SessionStatus("failed", _label("failed", _why(header)))
    if process == "parked":
        return SessionStatus("failed", _label("failed", "does not start"))
    if held := sum(not item.get("placeless") for item in header.queue):
        return SessionStatus("held", states.label_of("held", queued=held))
    if header.queue:
        return SessionStatus("waiting", states.label_of("waiting"))
    if lenient.text(header.agent_session, "unloaded"):
        return SessionStatus("not-loaded", states.label_of("not-loaded"))
    if not header.turn:
        return SessionStatus("not-begun", states.label_of("not-begun"))
    condition = "asleep" if (_has_ended(header) if awake is None else not awake) else "idle"
    why = _why(header) if reason not in ("", "end_turn") else ""
    return SessionStatus("warn" if why else condition, _label(condition, why))


def _has_ended(header: Header) -> bool:
    """Tell whether the worker ended the agent along with itself, according to the log."""
    process = header.process
    own_doing = not process.keys() & {"status", "link"}
    return process["state"] in ("stopped", "absent") or (process["state"] == "exited" and own_doing)


def _why(header: Header) -> str:
    return clean_line(why_ended(header), WHY)


def _label(condition: str, more: str = "") -> str:
    return states.label_of(condition) + (f": {more}" if more else "")


def _running(header: Header, at: int, since: int) -> SessionStatus:
    if header.state == "quiet":
        return SessionStatus("warn", _label("running", "quiet"), since)
    if header.stopping:
        return SessionStatus("warn", _label("running", "stopping, budget reached"), since)
    if header.retrying:
        return _retrying(header, at, since)
    starts = lenient.text(header.process, "state") == "starting"
    return SessionStatus("running", _label("running", "starting" if starts else ""), since)


def _asked(header: Header, at: int) -> int:
    """Return when the first open ask came."""
    times = [ask.at or at for ask in asks_of(header).values()]
    return min(times, default=at)


def _retrying(header: Header, at: int, since: int) -> SessionStatus:
    """Return `running: retrying 3 of 5`, and the time of the retry."""
    retry = header.retry
    attempt, of = lenient.integer(retry, "attempt"), lenient.integer(retry, "of")
    until = lenient.integer(retry, "until")
    text = "retrying"
    if attempt is not None:
        text += f" {attempt}" + (f" of {of}" if of else "")
    text = f"model unreachable, {text}" if retries.is_unreachable(header) else text
    if until is not None and until > at:
        return SessionStatus("warn", _label("running", text), until=until)
    return SessionStatus("warn", _label("running", text), since)


def login_words(state: str, account: str, at: int, now: float) -> str:
    """Describe an agent's login for a list: `not logged in (2 h ago)`, `logged in: Claude Max`; ""
    if nothing is known. Both times are in milliseconds."""
    if state == logins.OUT:
        return f"not logged in ({ago(at, now)})"
    if state == logins.IN:
        return f"logged in: {account}" if account else "logged in"
    return ""
