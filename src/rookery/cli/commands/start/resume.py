"""`resume`: a prompt that hit a rate limit, sent again."""

import click

from rookery.cli.names import session_argument
from rookery.cli.output.queue import header_of
from rookery.cli.output.screen import standard
from rookery.cli.session.send import send
from rookery.core.json import lenient


@click.command()
@session_argument
def resume(session: str) -> None:
    """Retry a prompt that hit a rate limit, without waiting for the reset. If the limit still
    applies, the agent says so.

    \b
    rookery resume 3f2a
    """
    limit = header_of(session)["rateLimit"]
    blocks = list(lenient.mappings(limit, "prompt"))
    if not blocks:
        raise click.ClickException(
            f"{session} has no prompt that hit a rate limit. To send one: rookery prompt {session}"
        )
    send(session, {"do": "prompt", "prompt": blocks})
    standard().note(f"Sent. rookery tail {session}")
