"""`open`: a session in the terminal interface."""

import click

from rookery.cli.names import complete_sessions, find_session


@click.command("open")
@click.argument("session", required=False, callback=find_session, shell_complete=complete_sessions)
def open_(session: str | None) -> int:
    """Open a session in the terminal interface; without SESSION, the list of sessions.

    Leaving the terminal interface stops nothing. Without a terminal, use `rookery show` or
    `rookery tail`.

    \b
    rookery open 3f2a
    rookery open
    """
    from rookery.cli.no_command import Given, open_interface

    return open_interface(Given(resume=session or ""), "")
