"""`clear`: a fresh start with the same agent."""

import click

from rookery.cli.session.send import Say, for_each, header_of, send


@click.command()
@for_each
def clear(session: str, say: Say) -> None:
    """Start the conversation over. Earlier turns are folded, not deleted.

    This uses the agent's own /clear if it has one, otherwise a fresh session of the agent. Modes,
    options and queued prompts stay. `rookery show --all` still prints everything.

    \b
    rookery clear 3f2a
    """
    send(session, {"do": "clear"})
    turns = (header_of(session)["fold"] or {"turn": 0})["turn"]
    folded = f" {turns} {'turn is' if turns == 1 else 'turns are'} folded away." if turns else ""
    say(f"Cleared.{folded}")
