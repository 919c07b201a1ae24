"""Which terminal belongs to which tool call: the fold's memory of terminals.

A call names its terminal in its content, and may do so before the terminal is announced, while it
runs, or after its end. Whichever comes second makes the link.
"""

from typing import Any

from rookery.core.json import lenient
from rookery.core.json.events import Json

KEPT = 200
"""Terminals that are remembered; later news of a forgotten one starts a new block."""

LONGEST_NAME = 200

type Known = list[Any]
"""[the terminal's block or None, "named" | "running" | "ended", its call's block or None]"""


def started(terminals: Json, name: str, block: str, call: str | None) -> Json:
    """`call`: the block of the call that the worker itself says it belongs to."""
    before = terminals.get(name)
    return keep(terminals, name, [block, "running", call or (before[2] if before else None)])


def ended(terminals: Json, name: str) -> Json:
    known = terminals.get(name)
    return {**terminals, name: [known[0], "ended", known[2]]} if known else terminals


def named(terminals: Json, call: Json, block: str) -> Json:
    """After a call has said which terminals are its own."""
    for name in names_in(call):
        known: Known = terminals.get(name) or [None, "named", None]
        if known[2] != block:
            terminals = keep(terminals, name, [known[0], known[1], block])
    return terminals


def running(terminals: Json) -> Json:
    """Those that go on when a turn begins."""
    return {name: known for name, known in terminals.items() if known[1] == "running"}


def block_of(terminals: Json, name: str) -> str | None:
    """Where news of a terminal goes; None: it has no block yet, or has ended."""
    known = terminals.get(name)
    return known[0] if known and known[1] == "running" else None


def moved(before: Json, after: Json) -> list[tuple[str, str]]:
    """The terminals' blocks whose call became known, with that call's block."""
    if before is after:
        return []
    return [
        (known[0], known[2])
        for name, known in after.items()
        if known[0]
        and known[2]
        and name in before
        and before[name][0] == known[0]
        and before[name][2] != known[2]
    ]


def names_in(call: Json) -> list[str]:
    parts = lenient.mappings(call, "content")
    names = [lenient.text(part, "terminalId") for part in parts if part.get("type") == "terminal"]
    return [name for name in names if 0 < len(name) <= LONGEST_NAME][:KEPT]


def keep(terminals: Json, name: str, known: Known) -> Json:
    """After one more, or other news of one; the oldest goes where there are too many."""
    rest = {key: value for key, value in terminals.items() if key != name}
    if len(rest) >= KEPT:
        del rest[next(iter(rest))]
    return {**rest, name: known}
