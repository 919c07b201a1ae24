"""The recap that a prompt brings along, for an agent that could not follow a rewind or a fork."""

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
