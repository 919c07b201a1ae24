"""`retry`: a prompt that hit a rate limit, sent again."""

import click

from rookery.cli.names import sessions_argument
from rookery.cli.output.queue import header_of
from rookery.cli.output.screen import standard
from rookery.cli.session.each import each
from rookery.cli.session.send import Say, send
from rookery.core.json import lenient


@click.command()
@sessions_argument
def retry(sessions: tuple[str, ...]) -> int:
    """Send a prompt again that hit a rate limit, without waiting for the reset. If the limit still
    applies, the agent says so.

    \b
    rookery retry 3f2a
    """
    return each(standard(), sessions, _retry)


def _retry(session: str, say: Say) -> None:
    limit = header_of(session)["rateLimit"]
    blocks = list(lenient.mappings(limit, "prompt"))
    if not blocks:
        raise click.ClickException(
            f"It has no prompt that hit a rate limit. To send one: rookery prompt {session}"
        )
    send(session, {"do": "prompt", "prompt": blocks})
    say(f"Sent. rookery tail {session}")
