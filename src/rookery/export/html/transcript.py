"""The transcript as units: a block with all that is nested in it, or a folded row of quiet calls.

A unit is an element with an id; its first child is its own content, and its second contains the
nested units. The page renders them one by one, an exported file in order."""

from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.blocks.document import Block
from rookery.export.html import block as looks
from rookery.export.html import card
from rookery.export.html.text import esc_line, tag
from rookery.export.html.view import View
from rookery.render.nesting import FEWEST, Families, families_of, rows, says_all, tops

TOP = ""
"""The name of the outermost container; any other has the name of its unit."""

LONGEST_ROW = 100
"""Calls that one line folds: of a long run, whole lines leave the page when it has too many."""

type Layout = dict[str, list[str]]
"""The units of each container, in order. A unit has the name of its block, a row that of its first
with a star."""


class Nest(NamedTuple):
    layout: Layout
    families: Families


def nest(blocks: dict[str, Block]) -> Nest:
    families = families_of(blocks)
    layout: Layout = {}
    _place(TOP, tops(blocks), families, layout)
    return Nest(layout, families)


def _place(container: str, blocks: list[Block], families: Families, layout: Layout) -> None:
    units = layout[container] = list[str]()
    for row in rows(blocks, families.children):
        for names in _lines([str(block["id"]) for block in row]):
            if len(names) < FEWEST:
                units += names
                continue
            layout[row_name(names[0])] = names
            units.append(row_name(names[0]))
    for block in blocks:
        if below := [each for each in families.children.get(block["id"], ()) if not _is_ask(each)]:
            _place(str(block["id"]), below, families, layout)


def _lines(run: list[str]) -> Iterator[list[str]]:
    """Split a run of quiet calls into rows; a remainder too short to fold is added to the row
    before it."""
    at = 0
    while at < len(run):
        end = at + LONGEST_ROW
        end = len(run) if len(run) - end < FEWEST else end
        yield run[at:end]
        at = end


def row_name(first: str) -> str:
    return f"{first}*"


def is_row(name: str) -> bool:
    return name.endswith("*")


def _is_ask(block: Block) -> bool:
    return bool(block["role"] == "ask")


def unit_of(name: str, blocks: dict[str, Block]) -> str:
    """Return the unit whose own content shows a block."""
    block = blocks[name]
    above = blocks.get(block["parent"] or "")
    if above is not None and (
        _is_ask(block) or (block["role"] == "terminal" and above["role"] == "tool")
    ):
        return str(above["id"])
    return name


class Painter:
    """Renders units as HTML."""

    def __init__(self, blocks: dict[str, Block], view: View) -> None:
        self.blocks = blocks
        self.nest = nest(blocks)
        self.view = view

    def units(self, container: str = TOP) -> Iterator[str]:
        return map(self.unit, self.nest.layout.get(container, ()))

    def unit(self, name: str) -> str:
        """Render a unit with all that is nested in it."""
        own, inside = self.own(name), "".join(self.units(name))
        place = f'id="b{esc_line(name, 100)}"'
        if is_row(name):
            members = tag("div", inside, "members")
            return f'<details class="block row" {place}>{own}{members}</details>\n'
        if not own and not inside:
            return ""
        role, below = looks.role_of(self.blocks[name]), tag("div", inside, "below")
        return f'<div class="block {role}" {place}>{own}{below if inside else ""}</div>\n'

    def own(self, name: str) -> str:
        """Render the unit's own content, its first child."""
        if is_row(name):
            members = [self.blocks[each] for each in self.nest.layout[name]]
            return tag("summary", card.row_line(members), "own")
        inner = self.inner(name, self.blocks[name])
        return tag("div", inner, "own") if inner else ""

    def inner(self, name: str, block: Block) -> str:
        families = self.nest.families
        asks = [each for each in families.children.get(name, ()) if _is_ask(each)]
        more = "".join(looks.rendered(self.shown(ask), self.view) for ask in asks)
        if any(map(says_all, asks)):
            return more
        terminals = families.terminals.get(name, [])
        return looks.inner(self.shown(block), self.view, terminals, more)

    def shown(self, block: Block) -> Block:
        """Return what may be shown of a block."""
        return block
