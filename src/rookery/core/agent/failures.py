"""Failed starts: a stored conversation that cannot be restored, or an agent that keeps exiting.

A conversation that is gone is replaced by a fresh session, and the log says so; one out of reach is
kept and tried again. An agent that has exited early too often is parked: it is not started
automatically any more, and a further attempt that fails parks it again."""

import re

from rookery.core.agent.messages import Agent, Exited, Past, Wish
from rookery.core.json import Json, dumps, lenient
from rookery.core.limits import Policy
from rookery.core.turn.remedies import WORKER_DIED, remedy_for_start
from rookery.core.units import duration
from rookery.core.vendors.logins import UNAUTHENTICATED

GONE = frozenset({-32002, -32601, -32602})
"""Resource not found, method not found, invalid parameters: none of them passes by waiting."""

MAX_RESTORE_FAILURES = 2
"""How many failures in a row a stored session is allowed; the next start opens a fresh one."""

KILLED = frozenset({-1, -2, -9, -15, 128 + 1, 128 + 2, 128 + 9, 128 + 15})
"""Exit statuses of an agent that was killed from outside, by the user or for want of memory: HUP,
INT, KILL, TERM, as the system says them and as a shell does."""

_THING = r"(session|conversation|thread|rollout|resource)"
_LOST = re.compile(
    rf"\b(no|unknown|invalid|missing|(cannot|could not|couldn't) find)\b[^.]{{0,20}}{_THING}"
    rf"|{_THING}[^.]{{0,80}}\b(not found|unknown|invalid|missing|(does not|doesn't|not) exist)"
)


def is_gone(error: Json) -> bool:
    """Whether an agent's error says that it does not know the session any more."""
    code = error.get("code")
    if code == UNAUTHENTICATED:
        return False
    text = lenient.text(error, "message") + " " + dumps(error.get("data"))
    return code in GONE or _LOST.search(text[:4000].lower()) is not None


def failed_again(past: Past, stored: str | None, why: str) -> Past:
    """Count a stored session that could not be restored for a reason that may pass."""
    before = past.transient if past.stored == stored else 0
    return past._replace(transient=before + 1, stored=stored or "", why=why)


def restored(past: Past) -> Past:
    return past._replace(transient=0, stored="", why="")


def given_up(past: Past, stored: str) -> bool:
    """Whether to give up on a stored session: one that never comes back must not block its user."""
    return past.stored == stored and past.transient >= MAX_RESTORE_FAILURES


# --- parking -------------------------------------------------------------------------------------


def gone(agent: Agent, given: Exited, now: float, wish: Wish, policy: Policy) -> tuple[Past, Json]:
    """Return the updated Past after a process ended, and the `_agent` update that says so."""
    lived = max(0.0, now - agent.born)
    wished = agent.phase == "ending" and agent.fault is None
    quick = not wished and (lived < policy.crash_within or agent.fault is not None)
    past = _counted(agent.past, agent.born, policy) if quick else agent.past
    if not quick and lived >= policy.crash_within:
        past = past._replace(parked=False)
    if quick and past.parked:
        return past, _parked(agent, given, lived, wish)
    update: Json = {"sessionUpdate": "_agent", "state": "exited", "name": wish.name}
    if given.link:
        return past, update | {"link": given.link, "lived": round(lived, 3)}
    if agent.phase != "ending":  # how it ends when we end it says nothing
        update |= {"status": given.status} | ({"stderr": given.stderr} if given.status else {})
        update["lived"] = round(lived, 3)
        update |= {"quick": len(past.starts)} if quick else {}
    return past, update


def _counted(past: Past, born: float, policy: Policy) -> Past:
    recent = tuple(start for start in past.starts if born - start < policy.crash_window)
    starts = (*recent, born)
    return past._replace(starts=starts, parked=past.parked or len(starts) > policy.crash_most)


def _parked(agent: Agent, given: Exited, lived: float, wish: Wish) -> Json:
    update: Json = {"sessionUpdate": "_agent", "state": "parked", "name": wish.name}
    if given.link:
        return update | {"link": given.link, "lived": round(lived, 3), "remedy": given.link}
    if agent.phase != "ending":
        update["status"] = given.status
    error = agent.fault or {}
    remedy = remedy_for_start(wish.name, wish.install, update.get("status"), given.stderr, error)
    return update | {"lived": round(lived, 3), "stderr": given.stderr[-20:], "remedy": remedy}


def worker_parked(session: str, starts: int, window: float, log_tail: list[str]) -> Json:
    """Return the `_agent` update that parks the session; `log_tail`: of the worker's log."""
    remedy = (
        f"It died after each of its last {starts} starts, all within {duration(window)}: the "
        f"session is parked. To start it again: rookery restart {session}. Its log: rookery logs "
        f"--worker {session}"
    )
    update: Json = {"sessionUpdate": "_agent", "state": "parked", "reason": WORKER_DIED}
    return update | {"remedy": remedy, "stderr": log_tail[-20:]}
