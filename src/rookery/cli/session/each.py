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
    except errors.faults() as error:
        known = errors.explain(error)
        if known is None:
            raise
        errors.say(f"rookery: {session}: {known[0]}")
        return known[1]
