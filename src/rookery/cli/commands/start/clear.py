"""`clear`: a fresh start with the same agent."""

import click

from rookery.cli.names import sessions_argument
from rookery.cli.output.queue import header_of
from rookery.cli.output.screen import standard
from rookery.cli.session.each import each
from rookery.cli.session.send import Say, send


@click.command()
@sessions_argument
def clear(sessions: tuple[str, ...]) -> int:
    """Start the conversation over. Earlier turns are folded, not deleted.

    This uses the agent's own /clear if it has one, otherwise a fresh session of the agent. Modes,
    options and queued prompts stay. `rookery show --all` still prints everything.

    \b
    rookery clear 3f2a
    """
    return each(standard(), sessions, _clear)


def _clear(session: str, say: Say) -> None:
    send(session, {"do": "clear"})
    turns = (header_of(session)["fold"] or {"turn": 0})["turn"]
    folded = f" {turns} {'turn is' if turns == 1 else 'turns are'} folded away." if turns else ""
    say(f"Cleared.{folded}")
