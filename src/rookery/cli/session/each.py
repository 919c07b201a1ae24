"""One command for several sessions: what fails for one does not keep the others from it."""

from collections.abc import Callable

import click

from rookery.cli import errors, exits
from rookery.cli.output.screen import Screen
from rookery.cli.session.send import Say

type Work = Callable[[str, Say], int | None]


def each(screen: Screen, sessions: tuple[str, ...], work: Work) -> int:
    """Do the work for every session; the worst exit code. With several, what is said about each
    begins with its id."""
    if len(sessions) == 1:
        return work(sessions[0], screen.note) or exits.DONE
    return max([_one(screen, session, work) for session in sessions])


def _one(screen: Screen, session: str, work: Work) -> int:
    try:
        return work(session, lambda words: screen.note(f"{session}: {words}")) or exits.DONE
    except click.ClickException as error:
        errors.say(f"rookery: {session}: {error.format_message()}")
        return error.exit_code
    except _faults() as error:
        known = errors.explain(error)
        if known is None:
            raise
        errors.say(f"rookery: {session}: {known[0]}")
        return known[1]


def _faults() -> tuple[type[Exception], ...]:
    """What a command to one session may meet; loaded where it has met something."""
    from rookery.client.fleet import StillAlive
    from rookery.client.guard import FromAgent
    from rookery.client.session import Refused, Rejected, Trouble
    from rookery.client.start import StartError
    from rookery.home.config import ConfigError
    from rookery.home.paths import PathError
    from rookery.log.errors import LogError

    ours = (FromAgent, Refused, Rejected, StartError, StillAlive, Trouble)
    return (*ours, ConfigError, LogError, OSError, PathError)
