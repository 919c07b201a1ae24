"""Hiding sessions from the lists, and bringing them back: archive, unarchive and snooze."""

from collections.abc import Callable

from rookery.cli.output.screen import standard
from rookery.cli.session.send import send
from rookery.client.fleet import head_of_session
from rookery.core.json.events import Json
from rookery.home import paths


def change(
    sessions: tuple[str, ...], command: Json, needless: Callable[[Json], str], done: str
) -> None:
    """Send a command to each session. `needless`: why it is not needed, from the session's head;
    `done`: what is said afterwards, with {} for the id."""
    screen = standard()
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if head is not None and (why := needless(head)):
            screen.note(f"{session} {why}.")
            continue
        send(session, command)
        screen.note(done.format(session))
        hides = command["do"] == "archive" or command.get("until")
        if hides and head is not None and head["awake"] and head["state"] != "idle":
            screen.note("It goes to sleep when its turn ends.")
