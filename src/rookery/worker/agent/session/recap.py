"""What a prompt brings along: a recap for an agent that could not follow a rewind or a fork, and a
word to agents that know us."""

from rookery.core.agent.prompt import words_of
from rookery.core.json import Draft, Json, lenient, notice
from rookery.log.reader import Reader
from rookery.worker.session import Session

SENT = "Sent with a recap of the earlier turns, which the agent has no memory of."


def due(session: Session, prompt: list[Json]) -> list[Json]:
    """What goes before the user's own words, if anything; the log says so."""
    before = lenient.integer(session.header, "recapDue") or 0
    if not before:
        return []
    from rookery.client import reading  # seldom
    from rookery.core.view.recap import goes_with

    if not goes_with(words_of(prompt)):
        return []
    with Reader.open(session.directory) as log:
        text = reading.recap(log, before).recap
    if not text:
        return []
    session.append(Draft(notice(SENT, "info", recap=before)))
    return [{"type": "text", "text": text}]


def meta(session: Session, *, continues: bool) -> Json:
    """For agents that know us (docs/sessions.md): no verdict of its own critic is wanted; it goes
    on where it was; what it had asked was given up while it was away."""
    found: Json = {} if session.critic_policy.enabled else {"critic": False}
    if continues:
        found["continue"] = True
    elif session.header["_dropped"] and session.agent.continues:
        found["drop"] = True
    return {"_meta": {"rookery": found}} if found else {}
