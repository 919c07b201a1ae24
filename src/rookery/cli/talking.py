"""`prompt`, `cancel`, `rename`: one command to a session, and its outcome."""

import click

from rookery import paths
from rookery.cli import exits
from rookery.cli.look.screen import standard
from rookery.cli.naming import session_argument
from rookery.cli.running import text_of
from rookery.core.events import Event, Json, kind_of


def send(session: str, command: Json) -> Event:
    """Send a command until its outcome is in the log; that outcome."""
    import asyncio

    from rookery.client.session import SessionClient

    async def sending() -> Event:
        client = SessionClient(paths.home(), session)
        try:
            return await client.send(command)
        finally:
            client.close()

    return asyncio.run(sending())


@click.command()
@session_argument
@click.argument("text", nargs=-1)
@click.option("--wait", is_flag=True, help="Stream the answer, and exit with the turn's end.")
@click.option("--json", "as_json", is_flag=True, help="With --wait: print one event a line.")
@click.option(
    "--approve",
    type=click.Choice(["all", "reject", "ask"]),
    default="ask",
    show_default=True,
    help="With --wait: what to say when the agent asks.",
)
def prompt(session: str, text: tuple[str, ...], wait: bool, as_json: bool, approve: str) -> int:
    """Send a prompt to a session, which wakes it. While a turn runs, the prompt waits for its end.

    \b
    rookery prompt 3f2a "Now write the tests"
    rookery prompt 3f2a --wait --approve all "Now write the tests"
    cat error.log | rookery prompt 3f2a "What is this?" -
    """
    screen = standard()
    words = text_of(text)
    if wait:
        from rookery.cli.turns import Policy, continue_turn

        return continue_turn(screen, session, words, Policy(approve), as_json=as_json)
    outcome = send(session, {"do": "prompt", "prompt": [{"type": "text", "text": words}]})
    queued = kind_of(outcome.update) == "_queue"
    screen.note("Queued: a turn is running." if queued else f"Sent. rookery tail {session}")
    return exits.DONE


@click.command()
@session_argument
def cancel(session: str) -> int:
    """Cancel the turn that runs. A second cancel ends an agent that does not react.

    \b
    rookery cancel 3f2a
    """
    screen = standard()
    from rookery.client.fleet import head_of_session

    head = head_of_session(paths.home(), session)
    send(session, {"do": "cancel"})
    running = head is not None and head["state"] != "idle"
    screen.note("Cancelled." if running else "Nothing was running.")
    return exits.DONE


@click.command()
@session_argument
@click.argument("title")
def rename(session: str, title: str) -> int:
    """Give a session a title, by which it can be named from then on.

    \b
    rookery rename 3f2a "Release notes"
    """
    if not title.strip():
        raise click.BadParameter("a title needs at least one character.", param_hint="TITLE")
    send(session, {"do": "rename", "title": title})
    return exits.DONE
