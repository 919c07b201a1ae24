"""How the blocks of a page are nested: sub-agents, terminals of a call, neighbouring quiet
calls."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.json import lenient

DEEPEST = 6
FEWEST = 3
"""At least this many quiet calls fold into one line."""


class Families(NamedTuple):
    children: dict[str, list[Block]]
    """By parent."""
    terminals: dict[str, list[Block]]
    """Those that a call shows in its card."""


def tops(blocks: dict[str, Block]) -> list[Block]:
    """Return the blocks that are nested under no other."""
    return [block for block in blocks.values() if owner(block, blocks) is None]


def families_of(blocks: dict[str, Block]) -> Families:
    children: dict[str, list[Block]] = {}
    terminals: dict[str, list[Block]] = {}
    for block in blocks.values():
        above = owner(block, blocks)
        if above is None:
            continue
        shown = block["role"] == "terminal" and blocks[above]["role"] == "tool"
        (terminals if shown else children).setdefault(above, []).append(block)
    return Families(children, terminals)


def owner(block: Block, blocks: dict[str, Block]) -> str | None:
    """Return the block's parent if it is on this page and there is no cycle, else None."""
    parent = block["parent"]
    if parent is None or parent not in blocks:
        return None
    above, steps = parent, 0
    while above is not None and above in blocks:
        if above == block["id"] or steps > 50:
            return None
        above, steps = blocks[above]["parent"], steps + 1
    return str(parent)


def is_folded(block: Block, children: dict[str, list[Block]], opened: bool | None) -> bool:
    """Tell whether a sub-agent's work is folded into one line: it has ended, or the user folded it.
    An open ask is always in sight. `opened` is the user's choice, if any."""
    if not captions.is_subagent(block):
        return False
    folded = captions.is_over(block) if opened is None else not opened
    return folded and not _waits(block, children)


def _waits(block: Block, children: dict[str, list[Block]], steps: int = 50) -> bool:
    below = children.get(block["id"], ())
    return steps > 0 and any(
        (each["role"] == "ask" and each["status"] == "asked") or _waits(each, children, steps - 1)
        for each in below
    )


def rows(blocks: list[Block], children: dict[str, list[Block]]) -> Iterable[list[Block]]:
    """Group neighbouring quiet blocks; any other block stands alone."""
    row: list[Block] = []
    for block in blocks:
        if captions.is_quiet(block) and not children.get(block["id"]) and not _says(block):
            row.append(block)
            continue
        yield from _settled(row)
        row = []
        yield [block]
    yield from _settled(row)


def _settled(row: list[Block]) -> Iterable[list[Block]]:
    return [row] if len(row) >= FEWEST else [[block] for block in row]


def says_all(block: Block) -> bool:
    """Tell whether an open ask shows its whole call, which then needs no card above it."""
    return bool(block["status"] == "asked" and block.get("does"))


def _says(block: Block) -> bool:
    """Tell whether a call is worth a line of its own."""
    return any(lenient.text(part, "type") in ("diff", "image") for part in captions.parts_of(block))
