"""The Rookery that a command works with: this machine's, or the one that --daemon or ROOKERY_URL
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
    """Set the URL that --daemon gives; "" if it is not given."""
    global _named  # noqa: PLW0603 - one command line is about one Rookery
    _named = url


def url() -> str:
    """Return the URL of the other Rookery's daemon, or "" for this machine's Rookery."""
    return _named or os.environ.get(VARIABLE, "")


def check(command: str) -> None:
    """Raise click.UsageError for a command that would act on the wrong machine."""
    if not url() or not (command in MACHINE or (command in HERE and _named)):
        return
    source, other = ("--daemon", "without it") if _named else (VARIABLE, f"after unset {VARIABLE}")
    raise _misused(
        f"rookery {command} is about the machine it runs on, and {source} names another. Run it "
        f"there, or here {other}."
    )


def other(patience: float) -> "Rookery | None":
    """Return the Rookery of another machine, or None if none was named. `patience`: seconds that a
    command waits for a broken link. Raises RemoteError and its like."""
    return _at(url(), patience) if url() else None


def rookery() -> "Rookery":
    """Return the Rookery that commands work with. Raises RemoteError and its like."""
    place = url()
    if not place:
        return _at("")  # a home may change between two commands of a test
    if place not in _reached:
        _reached[place] = _at(place)
    return _reached[place]


def _at(place: str, *patience: float) -> "Rookery":
    from rookery.operations.calling.reaching import rookery_at  # not for the first frame

    return rookery_at(paths.home(), place, *patience)


def agents() -> "list[Json]":
    """Return the agents that the Rookery knows."""
    rows: list[Json] = rookery().call("agents")["agents"]
    return rows


def only_here(what: str) -> None:
    """Raise click.UsageError if another machine was named."""
    if url():
        raise _misused(f"{what} works only on the machine itself, not with {url()}.")


def _misused(sentence: str) -> Exception:
    import click  # here: the terminal interface opens without it

    return click.UsageError(sentence)
