"""`restart`: a session's agent ends and starts again."""

import click

from rookery.cli.session.send import Say, for_each, renew_environment, send


@click.command()
@for_each
def restart(session: str, say: Say) -> None:
    """Restart the agents of sessions. A running turn is interrupted.

    The agent gets this terminal's environment; variables that changed are listed.

    \b
    rookery restart 3f2a
    """
    command = {"do": "restart"}
    renew_environment(say, session, command)
    send(session, command)
    say("Restarted.")
