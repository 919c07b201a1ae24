"""Gives a restarted agent the environment of this terminal, where the user may just have exported a
key or logged in."""

from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.core.json.events import Json
from rookery.home import paths


def hand_over(screen: Screen, header: Json) -> bool:
    """Whether the session's agent gets another environment from its next start on; says which
    variables differ."""
    from rookery.client.environment import renew

    change = renew(paths.home(), header)
    if change is None:
        return False
    screen.note(f"The agent gets this terminal's environment: {clean_line(change.words())}.")
    return True


def renew_after_login(screen: Screen, session: str) -> None:
    """Before a prompt to an agent that wanted a log-in: one that still runs is restarted where this
    terminal has other variables."""
    from rookery.cli.output.queue import header_of
    from rookery.cli.session.send import send
    from rookery.client.fleet import head_of_session
    from rookery.core.turn.remedies import wants_login

    header = header_of(session)
    if not wants_login(header) or not hand_over(screen, header):
        return
    if (head_of_session(paths.home(), session) or {}).get("awake"):
        send(session, {"do": "restart"})
