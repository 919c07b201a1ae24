"""`retry`: a prompt that hit a rate limit, sent again."""

import click

from rookery.cli.session.send import Say, for_each, header_of, send
from rookery.core.json import lenient


@click.command()
@for_each
def retry(session: str, say: Say) -> None:
    """Send a prompt again that hit a rate limit, without waiting for the reset. If the limit still
    applies, the agent says so.

    \b
    rookery retry 3f2a
    """
    blocks = list(lenient.mappings(header_of(session)["rateLimit"], "prompt"))
    if not blocks:
        raise click.ClickException(
            f"It has no prompt that hit a rate limit. To send one: rookery prompt {session}"
        )
    send(session, {"do": "prompt", "prompt": blocks})
    say(f"Sent. rookery tail {session}")
