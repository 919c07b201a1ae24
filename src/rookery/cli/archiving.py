"""`archive`, `unarchive`: sessions put away and brought back; nothing of them is lost (row W4)."""

import click

from rookery import paths
from rookery.cli import exits
from rookery.cli.look.screen import standard
from rookery.cli.naming import sessions_argument
from rookery.cli.sending import send
from rookery.client.fleet import head_of_session


@click.command()
@sessions_argument
def archive(sessions: tuple[str, ...]) -> int:
    """Put sessions away: they go to sleep once no turn runs, and lists do not show them.

    A prompt, or unarchive, brings one back. rookery ps --all shows them.

    \b
    rookery archive 3f2a
    rookery archive 3f2a 91bc
    """
    screen = standard()
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if head is not None and head["archived"]:
            screen.note(f"{session} is archived already.")
            continue
        send(session, {"do": "archive"})
        running = head is not None and head["awake"] and head["state"] != "idle"
        later = " It goes to sleep when its turn has ended." if running else ""
        screen.note(f"Archived {session}.{later}")
    return exits.DONE


@click.command()
@sessions_argument
def unarchive(sessions: tuple[str, ...]) -> int:
    """Bring archived sessions back into the lists. They stay asleep until the next prompt.

    \b
    rookery unarchive 3f2a
    """
    screen = standard()
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if head is not None and not head["archived"]:
            screen.note(f"{session} is not archived.")
            continue
        send(session, {"do": "unarchive"})
        screen.note(f"{session} is in the lists again.")
    return exits.DONE
