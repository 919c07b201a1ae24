"""`archive`: hides sessions; nothing is lost."""

import click

from rookery.cli.names import sessions_argument
from rookery.cli.session import listing


@click.command()
@sessions_argument
def archive(sessions: tuple[str, ...]) -> None:
    """Hide sessions from lists. They go to sleep once no turn is running.

    A prompt, or rookery unarchive, brings one back. rookery ps --all still shows them.

    \b
    rookery archive 3f2a
    rookery archive 3f2a 91bc
    """
    listing.change(
        sessions,
        {"do": "archive"},
        lambda head: "is already archived" if head["archived"] else "",
        "Archived {}.",
    )
