"""A page's blocks in order: nested, long texts in stretches, quiet calls folded."""

from collections.abc import Iterable

from rookery.core.blocks import Block, captions
from rookery.core.json import lenient
from rookery.tui.transcript.item import Item
from rookery.tui.transcript.stretches import Start, starts_of

DEEPEST = 6
FEWEST = 3
"""At least this many quiet calls fold into one line."""

CLOSE = frozenset({"tool", "terminal", "thought", "raw"})
"""Roles without an empty line around them."""


class Outline:
    """Of one page. Unchanged items are kept, with their lines."""

    def __init__(self) -> None:
        self._known: dict[str, Item] = {}
        self._starts: dict[str, tuple[Start, ...]] = {}
        self._bases: dict[str, int] = {}
        """How many stretches were added above a text, by block."""
        self._of: dict[str, list[Item]] = {}
        """The items that show a block, by its id."""
        self._found: list[Item] = []

    def starts(self, name: str) -> tuple[Start, ...]:
        return self._starts.get(name, (Start(0),))

    def forget(self, name: str) -> None:
        """Paint a block again, and the card that shows it."""
        for item in self._of.get(name, ()):
            item.forget()

    def grew(self, block: Block) -> bool:
        """Paint only the end of a text that grew. Whether it needs another item."""
        name = block["id"]
        if block["role"] != "answer" or name not in self._starts:
            self.forget(name)
            return name not in self._of
        before = self._starts[name]
        self._starts[name] = starts_of(block["text"], before)
        mine = self._of.get(name, [])
        for item in mine[-2:]:
            if item.number >= len(before) - 1:
                item.forget()
        more = range(len(before), len(self._starts[name]))
        if not more or not mine or self._found[-1] is not mine[-1]:
            return bool(more)
        for number in more:  # at the end of the page: nothing else moves
            item = self._item(block, number, mine[-1].depth)
            self._known[_identity(item)] = item
            mine.append(item)
            self._found.append(item)
        return False

    def grew_above(self, name: str, text: str, added: int) -> None:
        """More of a text's beginning was loaded: its stretches stay the same."""
        known = self._starts.get(name)
        if known is not None:
            above = starts_of(text[:added])
            moved = (Start(at + added, fence) for at, fence in known)
            self._starts[name] = (*above, *moved)
            self._bases[name] = self._bases.get(name, 0) + len(above)

    def items(self, blocks: dict[str, Block], opened: dict[str, bool]) -> list[Item]:
        """`opened`: what the user unfolded, by name."""
        children, terminals = _families(blocks)
        found: list[Item] = []
        top = [block for block in blocks.values() if _owner(block, blocks) is None]
        self._walk(top, 0, (children, terminals), opened, found)
        _space(found)
        self._known = {_identity(item): item for item in found}
        self._of = {}
        for item in found:
            for block in (item.block, *item.terminals, *item.members[1:]):
                self._of.setdefault(block["id"], []).append(item)
        self._found = found
        return found

    def _walk(
        self,
        blocks: list[Block],
        depth: int,
        families: tuple[dict[str, list[Block]], dict[str, list[Block]]],
        opened: dict[str, bool],
        found: list[Item],
    ) -> None:
        children, terminals = families
        for row in _rows(blocks, children):
            name = f"{row[0]['id']}*"
            if len(row) >= FEWEST:
                head = self._item(row[0], 0, depth, row)
                found.append(head)
                if not opened.get(name):
                    continue
            inner = depth + 1 if len(row) >= FEWEST else depth
            for block in row:
                owned = terminals.get(block["id"], [])
                below = children.get(block["id"], [])
                asks = [each for each in below if each["role"] == "ask"]
                if not any(map(_says_all, asks)):
                    found += self._of_block(block, min(inner, DEEPEST), owned)
                if asks:  # asks come right after the call
                    self._walk(asks, inner, families, opened, found)
                if len(below) > len(asks):
                    rest = [each for each in below if each["role"] != "ask"]
                    self._walk(rest, inner + 1, families, opened, found)

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


def _families(
    blocks: dict[str, Block],
) -> tuple[dict[str, list[Block]], dict[str, list[Block]]]:
    """Children by parent, and the terminals that a call shows in its card."""
    children: dict[str, list[Block]] = {}
    terminals: dict[str, list[Block]] = {}
    for block in blocks.values():
        owner = _owner(block, blocks)
        if owner is None:
            continue
        shown = block["role"] == "terminal" and blocks[owner]["role"] == "tool"
        (terminals if shown else children).setdefault(owner, []).append(block)
    return children, terminals


def _owner(block: Block, blocks: dict[str, Block]) -> str | None:
    """The parent, if it is on this page and there is no cycle."""
    parent = block["parent"]
    if parent is None or parent not in blocks:
        return None
    above, steps = parent, 0
    while above is not None and above in blocks:
        if above == block["id"] or steps > 50:
            return None
        above, steps = blocks[above]["parent"], steps + 1
    return str(parent)


def _rows(blocks: list[Block], children: dict[str, list[Block]]) -> Iterable[list[Block]]:
    """Quiet neighbours together, any other block alone."""
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


def _says_all(ask: Block) -> bool:
    """An open ask shows its call whole: it needs no card above it."""
    return bool(ask["status"] == "asked" and ask.get("does"))


def _says(block: Block) -> bool:
    """Whether a call is worth its own line."""
    return any(lenient.text(part, "type") in ("diff", "image") for part in captions.parts_of(block))


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
