"""`restart`: a session's agent ends and starts again."""

import click

from rookery.cli.names import sessions_argument
from rookery.cli.output.screen import standard
from rookery.cli.session.each import each
from rookery.cli.session.send import Say, renew_environment, send


@click.command()
@sessions_argument
def restart(sessions: tuple[str, ...]) -> int:
    """Restart the agents of sessions. A running turn is interrupted.

    The agent gets this terminal's environment; variables that changed are listed.

    \b
    rookery restart 3f2a
    """
    return each(standard(), sessions, _restart)


def _restart(session: str, say: Say) -> None:
    command = {"do": "restart"}
    renew_environment(say, session, command)
    send(session, command)
    say("Restarted.")
