"""`restart`: a session's agent ends and starts again."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.screen import standard
from rookery.cli.session.send import renew_environment, send


@click.command()
@session_argument
def restart(session: str) -> None:
    """Restart a session's agent. A running turn is interrupted.

    The agent gets this terminal's environment; variables that changed are listed.

    \b
    rookery restart 3f2a
    """
    screen = standard()
    command = {"do": "restart"}
    renew_environment(screen, session, command)
    send(session, command)
    screen.note("Restarted.")
