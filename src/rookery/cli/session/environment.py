"""Gives a restarted agent the environment of this terminal, where the user may just have exported a
key or logged in."""

from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.core.json.events import Json
from rookery.home import paths


def renew_environment(screen: Screen, header: Json, command: Json) -> None:
    """Before a command that starts the agent anew, or a prompt to one that wanted a log-in; says
    which variables differ."""
    from rookery.cli.session.send import send
    from rookery.client.environment import renew_before

    renewal = renew_before(paths.home(), header, command)
    if renewal is None:
        return
    screen.note(
        f"The agent gets this terminal's environment: {clean_line(renewal.change.words())}."
    )
    if renewal.restart:
        send(header["id"], {"do": "restart"})
