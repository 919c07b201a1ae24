"""An agent that does not stay up: its short lives are counted; after too many it is parked, with
what helps (row A6).

Parked means that nothing starts it by itself and that one notice is there; whoever wants it tries
once more, and a try that fails parks it again.
"""

from rookery.core.agent.messages import Agent, Exited, Past, Wish
from rookery.core.json.events import Json
from rookery.core.limits import Policy
from rookery.core.turn.remedies import remedy_for_start

LINES = 20


def gone(agent: Agent, given: Exited, now: float, wish: Wish, policy: Policy) -> tuple[Past, Json]:
    """What is remembered of a process that ended, and the `_agent` that says so."""
    lived = max(0.0, now - agent.born)
    wished = agent.phase == "ending" and agent.fault is None
    quick = not wished and (lived < policy.crash_within or agent.fault is not None)
    past = _counted(agent.past, agent.born, policy) if quick else agent.past
    if not quick and lived >= policy.crash_within:
        past = past._replace(parked=False)
    if quick and past.parked:
        return past, _parked(agent, given, lived, wish)
    update: Json = {"sessionUpdate": "_agent", "state": "exited", "name": wish.name}
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
    if agent.phase != "ending":
        update["status"] = given.status
    error = agent.fault or {}
    remedy = remedy_for_start(wish.name, wish.install, update.get("status"), given.stderr, error)
    return update | {
        "lived": round(lived, 3),
        "stderr": given.stderr[-LINES:],
        "remedy": remedy,
    }
