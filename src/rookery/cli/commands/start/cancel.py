"""`cancel`: ends the running turn, and says whether the agent reacted."""

import click

from rookery.cli import target
from rookery.cli.output.queue import held_queue
from rookery.cli.session.send import Say, awaited, for_each, header_of, send, tell_left_running
from rookery.core.json import Event, kind_of, lenient
from rookery.core.view.fleet import is_judged, state_of

WITHIN = 3.0
"""Seconds for the agent to react."""


@click.command()
@for_each
@click.option("--force", is_flag=True, help="End the turn now, whatever the agent does.")
def cancel(session: str, say: Say, *, force: bool) -> None:
    """Cancel the running turn. A second cancel ends an agent that does not react.

    Queued prompts are held: nothing is sent until you say so (rookery queue).

    --force is for a turn that hangs: it ends without waiting for the agent. An agent that does not
    respond is restarted before the next prompt.

    \b
    rookery cancel 3f2a
    rookery cancel 3f2a 91bc
    rookery cancel 3f2a --force
    """
    head = target.rookery().head(session)
    outcome = send(session, {"do": "force_end" if force else "cancel"})
    if head is not None and state_of(head, awake=head["awake"]) == "waiting":
        say(f"Nothing was running. To take the prompt back: rookery queue {session} remove 1")
    elif head is None or (head["state"] == "idle" and not is_judged(head)):
        say("Nothing was running.")
    elif force:
        say("Ended.")
    else:
        say("Cancelled." if is_judged(head) else _cancelled(session, outcome))
    if held := held_queue(session, header_of(session)):
        say(held)
    tell_left_running(say, session, outcome.seq - 1)


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
            return "The agent ignored the cancel and was killed."
        case other:
            return f"The turn ended on its own: {other.replace('_', ' ')}."
