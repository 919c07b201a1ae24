"""The user's word for filters and merge drivers that only a repository's configuration names."""

from collections.abc import Callable

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line
from rookery.client import guard
from rookery.client.work_tree import drivers
from rookery.client.worktrees.programs import Untrusted
from rookery.git.places import Place
from rookery.git.settings import Driver
from rookery.home import paths


def trusted(screen: Screen, place: Place, chosen: list[Driver], *, yes: bool) -> bool:
    """Show them, ask, and remember a yes. Raises FromAgent, UsageError."""
    home = paths.home()
    guard.require_person(home, "trust programs")
    for each in chosen:
        screen.line(clean_line(f"{each.kind} {each.name}: {each}"))
    if not yes and not flags.in_terminal():
        raise click.UsageError("Not a terminal: pass --yes.")
    words = f"Run these for the files of {clean_line(place.top)}?"
    if not yes and not click.confirm(words, default=False, err=True):
        return False
    drivers.trust(home, place, chosen)
    return True


def ask_before_worktree(screen: Screen, cwd: str) -> None:
    """In a terminal, before anything else is done there. Raises NoWorktree."""
    if flags.in_terminal() and not target.rookery().address:
        from rookery.client.worktrees.create import check_programs

        with_trust(screen, lambda: check_programs(cwd))


def with_trust[T](screen: Screen, act: Callable[[], T]) -> T:
    """In a terminal, ask about the programs that it needs, and try again."""
    while True:
        try:
            return act()
        except Untrusted as error:
            if not flags.in_terminal():
                raise
            screen.note(clean_line(str(error)))
            if not trusted(screen, error.place, list(error.chosen), yes=False):
                raise
