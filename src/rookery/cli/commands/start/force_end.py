"""`force-end`: ends a turn without waiting for the agent."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.screen import standard
from rookery.cli.session.send import send


@click.command("force-end")
@session_argument
def force_end(session: str) -> None:
    """End the turn now, whatever the agent does. For a turn that hangs.

    The agent is asked to cancel. If it does not respond, it is restarted before the next prompt.

    \b
    rookery force-end 3f2a
    """
    send(session, {"do": "force_end"})
    standard().note("Ended.")
