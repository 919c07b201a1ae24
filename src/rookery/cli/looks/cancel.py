"""`cancel`: reports whether the agent reacted."""

from typing import Any

from rookery.cli import target
from rookery.cli.output.queue import held_queue
from rookery.cli.session.send import Say, awaited, header_of, send, tell_left_running
from rookery.core.header import Shown
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.view.fleet import is_judged, state_of
from rookery.operations.catalogue.row import Row

OPTIONS = ()
WITHIN = 3.0
"""Seconds for the agent to react."""


def carry_out(row: Row, session: str, say: Say, given: Any) -> Json:
    force = given["force"]
    head = target.rookery().head(session)
    outcome = send(session, row.command({"force": force}))
    if head is not None and state_of(head, awake=head["awake"]) == "waiting":
        say(f"Nothing was running. To take the prompt back: rookery queue {session} remove 1")
    elif head is None or (head["state"] == "idle" and not is_judged(Shown(head))):
        say("Nothing was running.")
    elif force:
        say("Ended.")
    else:
        say("Cancelled." if is_judged(Shown(head)) else _cancelled(session, outcome))
    if held := held_queue(session, header_of(session)):
        say(held)
    tell_left_running(say, session, outcome.seq - 1)
    return outcome._asdict()


def _cancelled(session: str, outcome: Event) -> str:
    """Return the outcome: an agent that does not react is still working."""

    def reason(event: Event) -> str | None:
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return lenient.text(event.update, "reason") or "end_turn" if idle else None

    match awaited(session, outcome.seq - 1, reason, WITHIN):
        case None:
            return (
                "The agent was asked to cancel but is still working. To end it, run "
                f"rookery cancel {session} again."
            )
        case "cancelled":
            return "Cancelled."
        case "unresponsive":
            return "The agent ignored the cancel and was killed."
        case other:
            return f"The turn ended on its own: {other.replace('_', ' ')}."
