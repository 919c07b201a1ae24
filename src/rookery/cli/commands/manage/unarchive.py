"""`unarchive`: brings archived sessions back."""

import click

from rookery.cli.names import sessions_argument
from rookery.cli.session import listing


@click.command()
@sessions_argument
def unarchive(sessions: tuple[str, ...]) -> None:
    """Bring archived sessions back into the lists. They stay asleep until the next prompt.

    \b
    rookery unarchive 3f2a
    """
    listing.change(
        sessions,
        {"do": "unarchive"},
        lambda head: "" if head["archived"] else "is not archived",
        "{} is back in the lists.",
    )
