"""`retry`: a prompt that hit a rate limit, sent again."""

import click

from rookery.cli import exits
from rookery.cli.session.send import Say, for_each, header_of, send, tell_queued
from rookery.core.json import kind_of, lenient


@click.command()
@for_each
def retry(session: str, say: Say) -> int:
    """Send a prompt again that hit a rate limit, without waiting for the reset. If the limit still
    applies, the agent says so.

    \b
    rookery retry 3f2a
    """
    blocks = list(lenient.mappings(header_of(session)["rateLimit"], "prompt"))
    if not blocks:
        raise click.ClickException(
            f"No prompt of this session hit a rate limit. To send one: rookery prompt {session}"
        )
    outcome = send(session, {"do": "prompt", "prompt": blocks})
    if kind_of(outcome.update) == "_queue" and outcome.update.get("placeless") is not True:
        return tell_queued(say, session)
    say(f"Sent. rookery tail {session}")
    return exits.DONE
