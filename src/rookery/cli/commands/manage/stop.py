"""`stop`: puts a session to sleep."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.screen import standard
from rookery.cli.session.send import send, tell_left_running, tell_resumption
from rookery.client.fleet import head_of_session
from rookery.home import paths
from rookery.log.lock import becomes_free

WITHIN = 10.0
"""Seconds for the worker to end."""


@click.command()
@session_argument
def stop(session: str) -> None:
    """Put a session to sleep: its agent and worker stop. The next prompt wakes it.

    \b
    rookery stop 3f2a
    """
    screen = standard()
    head = head_of_session(paths.home(), session)
    outcome = send(session, {"do": "stop"})
    if head is None or not head["awake"]:
        screen.note("It was already asleep.")
    else:
        ending = f"Stopping: the agent has not ended yet. To kill it: rookery kill {session}"
        ended = becomes_free(paths.session_dir(paths.home(), session), WITHIN)
        screen.note("Stopped. The next prompt wakes it." if ended else ending)
        tell_left_running(screen, session, outcome.seq)
    tell_resumption(screen, session)
