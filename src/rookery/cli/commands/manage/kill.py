"""`kill`: ends a session's processes without asking them."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.cli.session.send import tell_resumption
from rookery.client.fleet import kill as kill_session
from rookery.home import paths


@click.command()
@session_argument
def kill(session: str) -> None:
    """Kill a session's processes, even if they hang. Its history is kept.

    \b
    rookery kill 3f2a
    """
    screen = standard()
    refused = kill_session(paths.home(), session)
    screen.note("Killed. Its history is kept; the next prompt wakes it.")
    if refused:
        screen.note(f"Still running as another user: {clean_line(', '.join(refused))}")
    tell_resumption(screen, session)
