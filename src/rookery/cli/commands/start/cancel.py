"""`cancel`: ends the running turn, and says whether the agent reacted."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.screen import standard
from rookery.cli.session.send import awaited, send, tell_left_running
from rookery.client.fleet import head_of_session
from rookery.core.json import lenient
from rookery.core.json.events import Event, kind_of
from rookery.core.view.fleet import is_judged, state_of
from rookery.home import paths

WITHIN = 3.0
"""Seconds for the agent to react."""


@click.command()
@session_argument
def cancel(session: str) -> None:
    """Cancel the running turn. A second cancel ends an agent that does not react.

    \b
    rookery cancel 3f2a
    """
    screen = standard()
    head = head_of_session(paths.home(), session)
    outcome = send(session, {"do": "cancel"})
    if head is not None and state_of(head, awake=head["awake"]) == "waiting":
        screen.note(f"Nothing was running. To take the prompt back: rookery queue {session} rm 1")
    elif head is None or (head["state"] == "idle" and not is_judged(head)):
        screen.note("Nothing was running.")
    elif is_judged(head):
        screen.note("Cancelled.")
    else:
        screen.note(_cancelled(session, outcome))
    tell_left_running(screen, session, outcome.seq - 1)


def _cancelled(session: str, outcome: Event) -> str:
    """What came of it: an agent that does not react is still working."""

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
            return "The agent did not react and was ended."
        case other:
            return f"The turn ended by itself: {other.replace('_', ' ')}."
