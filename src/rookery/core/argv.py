"""A command-line parser without dependencies, for commands that a client waits for."""

from collections.abc import Callable, Collection
from itertools import combinations

from rookery.core.policy import approvals


class Misused(Exception):
    """The command line is invalid; the message says why."""


def read(
    argv: list[str],
    *,
    values: Collection[str] = (),
    flags: Collection[str] = (),
    either: Collection[tuple[str, str]] = (),
    operand: str = "",
) -> dict[str, str]:
    """Parse the options given: `--name VALUE` and `--name=VALUE`, and flags as "yes"; of two names
    in `either` at most one; exactly one positional argument if `operand` names it. Raises Misused.
    """
    given: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word, is_set, value = rest.pop(0).partition("=")
        name = word.removeprefix("--") if word.startswith("--") else ""
        if name in flags and not is_set:
            given[name] = "yes"
        elif name in values:
            if not is_set and not rest:
                raise Misused(f"{word} needs a value")
            given[name] = value if is_set else rest.pop(0)
        elif operand and operand not in given and not word.startswith("-"):
            given[operand] = word + is_set + value
        else:
            raise Misused(f"{word} is not a known option")
    for one, other in either:
        if one in given and other in given:
            raise Misused(f"--{one} and --{other} cannot be combined")
    if operand and operand not in given:
        raise Misused(f"{operand.upper()} is missing")
    return given


APPROVING = {each.flag: each.id for each in approvals.TABLE} | approvals.OLDER_FLAGS
"""Flags of every way in: how new sessions ask for approval."""
EITHER_APPROVING = [
    (one, other) for one, other in combinations(APPROVING, 2) if APPROVING[one] != APPROVING[other]
]
APPROVING_USAGE = "[" + " | ".join(f"--{each.flag}" for each in approvals.TABLE) + "]"


def confirm(given: dict[str, str]) -> str:
    """Return what those flags mean in `policy.approvals`; "" if none was given."""
    return next((value for name, value in APPROVING.items() if name in given), "")


def number[Number: (int, float)](
    given: dict[str, str], name: str, kind: Callable[[str], Number]
) -> Number | None:
    """Return an option's value as a number; None if it was not given. Raises Misused."""
    try:
        return kind(given[name]) if name in given else None
    except ValueError:
        raise Misused(f"--{name} {given[name]} is not a number") from None
