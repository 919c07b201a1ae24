"""Additions to a prompt: a recap for an agent that could not follow a rewind or a fork, and
metadata for agents that know us."""

from rookery import client
from rookery.core.agent.prompt import words_of
from rookery.core.json import Draft, Json, notice
from rookery.log.reader import Reader
from rookery.worker.session import Session

SENT = "Sent with a recap of the earlier turns, which the agent has no memory of."


def due(session: Session, prompt: list[Json]) -> list[Json]:
    """Return the blocks before the user's own text, if any, and log that they were sent."""
    before = session.header.recap_due or 0
    if not before:
        return []
    from rookery.core.view.recap import goes_with  # seldom

    if not goes_with(words_of(prompt)):
        return []
    with Reader.open(session.directory) as log:
        text = client.reading.recap(log, before).recap
    if not text:
        return []
    session.append(Draft(notice(SENT, "info", recap=before)))
    return [{"type": "text", "text": text}]


def meta(session: Session, *, continues: bool) -> Json:
    """Return the metadata for agents that know us (docs/sessions.md): whether their own critic
    should stay silent, whether to continue where they were, and whether their kept requests were
    dropped while they were away."""
    extra: Json = {} if session.critic_policy.enabled else {"critic": False}
    if continues:
        extra["continue"] = True
    elif session.header.dropped and session.agent.continues:
        extra["drop"] = True
    return {"_meta": {"rookery": extra}} if extra else {}
