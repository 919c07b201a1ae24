"""Which Rookery a command is about: this machine's, or the one that --daemon or ROOKERY_URL
names."""

import os
from typing import TYPE_CHECKING

from rookery.home import paths

if TYPE_CHECKING:
    from rookery.core.json import Json
    from rookery.operations.calling.interface import Rookery

VARIABLE = "ROOKERY_URL"

MACHINE = frozenset({"setup", "agents", "mcp", "config", "policy"})
"""Commands about the machine that they run on."""

HERE = frozenset(
    {"serve", "doctor", "notify", "uninstall", "update", "acp", "agent", "play", "model"}
)
"""The same, where nobody could mean another one: only the option is refused."""

_named = ""
_reached: "dict[str, Rookery]" = {}


def choose(url: str) -> None:
    """What --daemon says; "": nothing."""
    global _named  # noqa: PLW0603 - one command line is about one Rookery
    _named = url


def url() -> str:
    """Of the other Rookery's daemon; "": it is this machine's."""
    return _named or os.environ.get(VARIABLE, "")


def check(command: str) -> None:
    """Raises click.UsageError for what would act on the wrong machine."""
    if not url() or not (command in MACHINE or (command in HERE and _named)):
        return
    import click  # here: the terminal interface opens without it

    said, other = ("--daemon", "without it") if _named else (VARIABLE, f"after unset {VARIABLE}")
    raise click.UsageError(
        f"rookery {command} is about the machine it runs on, and {said} names another. Run it "
        f"there, or here {other}."
    )


def other(patience: float) -> "Rookery | None":
    """The one of another machine, if one is meant: a command waits so many seconds for a link that
    broke. Raises RemoteError and its like."""
    from rookery.operations.calling.reaching import rookery_at

    return rookery_at(paths.home(), url(), patience) if url() else None


def rookery() -> "Rookery":
    """Raises RemoteError and its like."""
    place = url()
    if place not in _reached:
        from rookery.operations.calling.reaching import rookery_at

        found = rookery_at(paths.home(), place)
        if not place:
            return found  # a home may change between two commands of a test
        _reached[place] = found
    return _reached[place]


def agents() -> "list[Json]":
    """The agents that it knows."""
    found: list[Json] = rookery().call("agents")["agents"]
    return found


def only_here(what: str) -> None:
    """Raises click.UsageError where another machine is meant."""
    if url():
        import click

        raise click.UsageError(f"{what} works only on the machine itself, not with {url()}.")
