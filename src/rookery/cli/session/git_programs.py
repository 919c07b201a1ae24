"""Asking whether to trust filters and merge drivers of a repository's own configuration."""

from collections.abc import Callable

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line
from rookery.client import guard
from rookery.client.work_tree import drivers
from rookery.client.worktrees.create import check_programs
from rookery.client.worktrees.programs import Untrusted
from rookery.git.places import Place
from rookery.git.settings import Driver
from rookery.home import paths


def trusted(screen: Screen, place: Place, chosen: list[Driver], *, yes: bool) -> bool:
    """Show them, ask, and remember a yes; return it. Raises FromAgent, UsageError."""
    home = paths.home()
    guard.require_person(home, "trust programs")
    for each in chosen:
        screen.line(clean_line(f"{each.kind} {each.name}: {each}"))
    if not yes and not flags.in_terminal():
        raise click.UsageError("Not a terminal: pass --yes.")
    question = f"Run these for the files of {clean_line(place.top)}?"
    if not yes and not click.confirm(question, default=False, err=True):
        return False
    drivers.trust(home, place, chosen)
    return True


def ask_before_worktree(screen: Screen, cwd: str) -> None:
    """Ask about a directory's programs first, in a terminal. Raises NoWorktree."""
    if flags.in_terminal() and not target.rookery().address:
        with_trust(screen, lambda: check_programs(cwd))


def with_trust[T](screen: Screen, act: Callable[[], T]) -> T:
    """Call `act`; in a terminal, ask about the programs that it needs, and retry."""
    while True:
        try:
            return act()
        except Untrusted as error:
            if not flags.in_terminal():
                raise
            screen.note(clean_line(str(error)))
            if not trusted(screen, error.place, list(error.chosen), yes=False):
                raise
