"""`pin` and `unpin`: keep sessions at the top of lists."""

import click

from rookery.cli.flags import sessions_argument
from rookery.cli.output import standard
from rookery.cli.session.send import send


@click.command()
@sessions_argument
def pin(sessions: tuple[str, ...]) -> None:
    """Keep sessions at the top of lists: each comes first among those in the same state.

    \b
    rookery pin 3f2a
    """
    for session in sessions:
        send(session, {"do": "pin"})
        standard().note(f"Pinned {session}.")


@click.command()
@sessions_argument
def unpin(sessions: tuple[str, ...]) -> None:
    """Undo rookery pin.

    \b
    rookery unpin 3f2a
    """
    for session in sessions:
        send(session, {"do": "unpin"})
        standard().note(f"{session} is no longer pinned.")
