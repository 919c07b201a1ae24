"""A page's blocks in order: nested, long texts in stretches, quiet calls folded."""

from collections.abc import Iterable

from rookery.core.blocks import Block
from rookery.render.nesting import (
    DEEPEST,
    FEWEST,
    Families,
    families_of,
    is_folded,
    rows,
    says_all,
    tops,
)
from rookery.render.stretches import Start, starts_of
from rookery.tui.transcript.item import Item

CLOSE = frozenset({"tool", "terminal", "thought", "raw"})
"""Roles without an empty line around them."""


class Outline:
    """The items of one page. Unchanged items are kept, with their lines."""

    def __init__(self) -> None:
        self._known: dict[str, Item] = {}
        self._starts: dict[str, tuple[Start, ...]] = {}
        self._bases: dict[str, int] = {}
        """How many stretches were added above a text, by block."""
        self._of: dict[str, list[Item]] = {}
        """The items that show a block, by its id."""
        self._items: list[Item] = []

    def starts(self, name: str) -> tuple[Start, ...]:
        return self._starts.get(name, (Start(0),))

    def forget(self, name: str) -> None:
        """Have a block painted again, and the card that shows it."""
        for item in self._of.get(name, ()):
            item.forget()

    def grew(self, block: Block) -> bool:
        """Have only the end of a text that grew painted. Return whether it needs another item."""
        name = block["id"]
        if block["role"] != "answer" or name not in self._starts:
            self.forget(name)
            return name not in self._of and block["parent"] is None
        before = self._starts[name]
        self._starts[name] = starts_of(block["text"], before)
        mine = self._of.get(name, [])
        for item in mine[-2:]:
            if item.number >= len(before) - 1:
                item.forget()
        more = range(len(before), len(self._starts[name]))
        if not more or not mine or self._items[-1] is not mine[-1]:
            return bool(more)
        for number in more:  # at the end of the page: nothing else moves
            item = self._item(block, number, mine[-1].depth)
            self._known[_identity(item)] = item
            mine.append(item)
            self._items.append(item)
        return False

    def grew_above(self, name: str, text: str, added: int) -> None:
        """Note that more of a text's beginning was loaded: its stretches stay the same."""
        known = self._starts.get(name)
        if known is not None:
            above = starts_of(text[:added])
            moved = (Start(at + added, fence) for at, fence in known)
            self._starts[name] = (*above, *moved)
            self._bases[name] = self._bases.get(name, 0) + len(above)

    def items(self, blocks: dict[str, Block], opened: dict[str, bool]) -> list[Item]:
        """Return the items of the blocks. `opened`: what the user unfolded, by name."""
        items: list[Item] = []
        self._walk(tops(blocks), 0, families_of(blocks), opened, items)
        _space(items)
        self._known = {_identity(item): item for item in items}
        self._of = {}
        for item in items:
            for block in (item.block, *item.terminals, *item.members[1:]):
                self._of.setdefault(block["id"], []).append(item)
        self._items = items
        return items

    def _walk(
        self,
        blocks: list[Block],
        depth: int,
        families: Families,
        opened: dict[str, bool],
        items: list[Item],
    ) -> None:
        children, terminals = families
        for row in rows(blocks, children):
            name = f"{row[0]['id']}*"
            if len(row) >= FEWEST:
                head = self._item(row[0], 0, depth, row)
                items.append(head)
                if not opened.get(name):
                    continue
            inner = depth + 1 if len(row) >= FEWEST else depth
            for block in row:
                owned = terminals.get(block["id"], [])
                below = children.get(block["id"], [])
                asks = [each for each in below if each["role"] == "ask"]
                if not any(map(says_all, asks)):
                    items += self._of_block(block, min(inner, DEEPEST), owned)
                if asks:  # asks come right after the call
                    self._walk(asks, inner, families, opened, items)
                folded = is_folded(block, children, opened.get(block["id"]))
                if len(below) > len(asks) and not folded:
                    rest = [each for each in below if each["role"] != "ask"]
                    self._walk(rest, inner + 1, families, opened, items)

    def _of_block(self, block: Block, depth: int, terminals: list[Block]) -> Iterable[Item]:
        name = block["id"]
        if block["role"] != "answer":
            item = self._item(block, 0, depth)
            item.terminals = terminals
            return [item]
        starts = self._starts[name] = starts_of(block["text"], self._starts.get(name, ()))
        return [self._item(block, number, depth) for number in range(len(starts))]

    def _item(
        self, block: Block, number: int, depth: int, members: list[Block] | None = None
    ) -> Item:
        made = Item(block, number, depth)
        made.members = members or []
        made.key = f"{block['id']}#{number - self._bases.get(block['id'], 0)}"
        known = self._known.get(_identity(made))
        if known is None or known.block is not block:
            return made
        if known.depth != depth or len(known.members) != len(made.members):
            known.forget()
        known.depth, known.members = depth, made.members
        return known


def _identity(item: Item) -> str:
    return f"{item.name}#{item.number}"


def _space(items: list[Item]) -> None:
    before = ""
    for item in items:
        role = item.block["role"]
        answered = role == "ask" and item.block["status"] != "asked"
        role = "tool" if answered and item.block["parent"] else role
        gap = int(item.number == 0 and not (role in CLOSE and before in CLOSE))
        if item.gap != gap:
            item.gap = gap
            item.forget()
        before = role
