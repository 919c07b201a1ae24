"""One command for several sessions: what fails for one does not keep the others from it."""

from collections.abc import Callable

import click

from rookery.cli import errors, exits
from rookery.cli.output.screen import Screen
from rookery.cli.session.send import Say
from rookery.client.fleet import StillAlive
from rookery.client.guard import FromAgent
from rookery.client.session import Refused, Rejected, Trouble
from rookery.client.start import StartError
from rookery.home import paths
from rookery.home.config import ConfigError
from rookery.log.errors import LogError

FAULTS = (
    *(FromAgent, Refused, Rejected, StartError, StillAlive, Trouble),
    *(ConfigError, LogError, OSError, paths.PathError),
)
"""What a command to one session may meet."""


def each(screen: Screen, sessions: tuple[str, ...], work: Callable[[str, Say], int | None]) -> int:
    """Do the work for every session; the worst exit code. With several, what is said about each
    begins with its id."""
    if len(sessions) == 1:
        return work(sessions[0], screen.note) or exits.DONE
    worst = exits.DONE
    for session in sessions:
        code = _one(screen, session, work)
        worst = max(worst, code)
    return worst


def _one(screen: Screen, session: str, work: Callable[[str, Say], int | None]) -> int:
    try:
        return work(session, lambda words: screen.note(f"{session}: {words}")) or exits.DONE
    except click.ClickException as error:
        errors.say(f"rookery: {session}: {error.format_message()}")
        return error.exit_code
    except FAULTS as error:
        known = errors.explain(error)
        if known is None:
            raise
        errors.say(f"rookery: {session}: {known[0]}")
        return known[1]
