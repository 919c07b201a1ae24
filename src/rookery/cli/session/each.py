"""One command for several sessions: what fails for one does not keep the others from it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from rookery.cli import errors, exits
from rookery.cli.names import sessions_argument
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.client.fleet import head_of_session
from rookery.home import paths

type Work = Callable[..., int | None]
"""With a session, and `Say`."""


def for_each(work: Work) -> Callable[..., int]:
    """A command that does the work for every session it names; the worst exit code. With several,
    what is said about each begins with its id."""

    @sessions_argument
    @wraps(work)
    def command(sessions: tuple[str, ...], **given: Any) -> int:
        screen = standard()
        if len(sessions) == 1:
            return work(sessions[0], screen.note, **given) or exits.DONE
        return max([_one(screen, session, work, given) for session in sessions])

    return command


def _one(screen: Screen, session: str, work: Work, given: dict[str, Any]) -> int:
    try:
        return work(session, lambda said: screen.note(f"{session}: {said}"), **given) or exits.DONE
    except click.ClickException as error:
        errors.say(f"rookery: {session}: {error.format_message()}")
        return error.exit_code
    except errors.faults() as error:
        known = errors.explain(error)
        if known is None:
            raise
        errors.say(f"rookery: {session}: {known[0]}")
        return known[1]


def head_line(screen: Screen, session: str, *, first: bool) -> None:
    """Above each of several sessions that are printed."""
    head = head_of_session(paths.home(), session)
    title = clean_line(head["title"]) if head else ""
    screen.line(("" if first else "\n") + screen.paint.faint(f"== {session}  {title}".rstrip()))
