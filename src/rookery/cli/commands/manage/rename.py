"""`rename`: a title of your own."""

import click

from rookery.cli.flags import session_argument
from rookery.cli.session.send import send


@click.command()
@session_argument
@click.argument("title")
def rename(session: str, title: str) -> None:
    """Give a session a title. You can then use the title as its name.

    \b
    rookery rename 3f2a "Release notes"
    """
    if not title.strip():
        raise click.BadParameter("the title is empty.", param_hint="TITLE")
    send(session, {"do": "rename", "title": title})
