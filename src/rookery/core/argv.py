"""The few words of a command line whose start a client waits for: read without a library."""

from collections.abc import Callable, Collection
from itertools import combinations

from rookery.core.policy import approvals


class Misused(Exception):
    """The message says what is wrong with them."""


def read(
    argv: list[str],
    *,
    values: Collection[str] = (),
    flags: Collection[str] = (),
    either: Collection[tuple[str, str]] = (),
    operand: str = "",
) -> dict[str, str]:
    """What was given: `--name VALUE` and `--name=VALUE`, and flags as "yes"; of two names in
    `either` at most one; exactly one other word if `operand` names it. Raises Misused."""
    found: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word, is_set, value = rest.pop(0).partition("=")
        name = word.removeprefix("--") if word.startswith("--") else ""
        if name in flags and not is_set:
            found[name] = "yes"
        elif name in values:
            if not is_set and not rest:
                raise Misused(f"{word} needs a value")
            found[name] = value if is_set else rest.pop(0)
        elif operand and operand not in found and not word.startswith("-"):
            found[operand] = word + is_set + value
        else:
            raise Misused(f"{word} is not a known option")
    for one, other in either:
        if one in found and other in found:
            raise Misused(f"--{one} and --{other} cannot be combined")
    if operand and operand not in found:
        raise Misused(f"{operand.upper()} is missing")
    return found


APPROVING = {each.flag: each.id for each in approvals.TABLE} | approvals.OLDER_FLAGS
"""Flags of every way in: how new sessions ask for approval."""
EITHER_APPROVING = [
    (one, other) for one, other in combinations(APPROVING, 2) if APPROVING[one] != APPROVING[other]
]
APPROVING_USAGE = "[" + " | ".join(f"--{each.flag}" for each in approvals.TABLE) + "]"


def confirm(found: dict[str, str]) -> str:
    """What those flags mean in `policy.approvals`; "": none was given."""
    return next((value for name, value in APPROVING.items() if name in found), "")


def number[Number: (int, float)](
    found: dict[str, str], name: str, kind: Callable[[str], Number]
) -> Number | None:
    """A value that is a number; None: not given. Raises Misused."""
    try:
        return kind(found[name]) if name in found else None
    except ValueError:
        raise Misused(f"--{name} {found[name]} is not a number") from None
