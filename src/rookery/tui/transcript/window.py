"""The loaded part of a session: pages that grow by ops at the end, older ones above."""

from collections.abc import Iterable, Sequence

from rookery.core.blocks.document import HEADER, Block, Document, Op, extend, join, make_block
from rookery.core.header import EMPTY, Header
from rookery.core.json import Json
from rookery.tui import transcript
from rookery.tui.transcript.item import Item

MORE = "More above"
CUT = "The beginning of a long text is not shown: rookery show --turn {}"


class Page:
    """The blocks of one turn, or of its loaded end."""

    def __init__(self, turn: int, blocks: dict[str, Block], first: int = 0) -> None:
        self.turn = turn
        self.blocks = blocks
        self.first = first
        """Its first event; 0: not from a log."""
        self.carried: dict[str, Json] = {}
        self.late: dict[str, list[Op]] = {}
        self.above = self.cut = False
        """Whether there is more above; whether a text has lost its beginning."""
        self.outline = transcript.outline.Outline()
        self.stale = True
        self._items: list[Item] = []

    def items(self, opened: dict[str, bool]) -> list[Item]:
        if self.stale:
            self._items = self.outline.items(self.blocks, opened)
            self.stale = False
        return [Item(self._top()), *self._items] if self.above or self.cut else self._items

    def _top(self) -> Block:
        title = MORE if self.above else CUT.format(self.turn)
        return make_block(f"{self.turn}.above", "divider", title=title)

    def extend_upward(self, older: "Page") -> None:
        """Add more of the same turn above."""
        both = join(older.as_document(), self.as_document())
        for name in self.carried:
            if name in older.blocks:
                text = both.blocks[name]["text"]
                self.outline.grew_above(name, text, len(older.blocks[name]["text"]))
        self.blocks, self.carried, self.late = both.blocks, both.carried, both.late
        self.first, self.above, self.cut = older.first, older.above, self.cut or older.cut
        self.stale = True

    def as_document(self) -> Document:
        document = Document()
        document.blocks, document.carried, document.late = self.blocks, self.carried, self.late
        return document


class Window:
    """The loaded pages. Applies the four ops; knows no events."""

    def __init__(self, header: Header | None = None) -> None:
        self.header = EMPTY if header is None else header
        self.pages: list[Page] = []
        self.opened: dict[str, bool] = {}
        self._late: dict[str, list[Op]] = {}
        self.hint = ""
        """Shown if the session is empty."""

    @property
    def first(self) -> int:
        """The first loaded event; at most 1 if there are no older ones."""
        return self.pages[0].first if self.pages else 0

    def add_older(self, pages: Sequence[Page]) -> None:
        """Add pages at the beginning; late ops reach them."""
        for page in reversed(pages):
            known = self.pages[0] if self.pages else None
            if known is not None and known.turn == page.turn:
                known.extend_upward(page)
            else:
                self.pages.insert(0, page)
            for name, ops in self.pages[0].late.items():
                self._late[name] = [*ops, *self._late.get(name, ())]
            self.pages[0].late = {}
        for name in [name for name in self._late if self._page_of(name)]:
            for op in self._late.pop(name):
                self._apply(op)

    def apply(self, ops: list[Op]) -> bool:
        """Apply ops; return whether anything but the header changed."""
        changed = False
        for op in ops:
            if op[0] == "set" and op[1] == HEADER:
                self.header = self.header.with_(**op[2])
                continue
            self._apply(op)
            changed = True
        return changed

    def _apply(self, op: Op) -> None:
        match op:
            case ["put", block]:
                page = self._page_for(turn_of(block["id"]))
                page.blocks[block["id"]] = dict(block)
                page.stale = True
                page.outline.forget(block["id"])
            case [_, name, *_]:
                page_or_none = self._page_of(name)
                if page_or_none is None:
                    self._late.setdefault(name, []).append(op)
                else:
                    self._change(page_or_none, op)

    def _change(self, page: Page, op: Op) -> None:
        match op:
            case ["set", name, fields]:
                page.blocks[name].update(fields)
                if name in page.carried:
                    page.carried[name].update(fields)
                page.stale = True
                self._touch(page, name)
            case ["append", name, text]:
                extend(page.blocks[name], text)
                page.stale = page.outline.grew(page.blocks[name]) or page.stale
            case ["drop", name]:
                del page.blocks[name]
                page.carried.pop(name, None)
                page.stale = True

    def _touch(self, page: Page, name: str) -> None:
        page.outline.forget(name)
        parent = page.blocks[name]["parent"]
        if parent is not None:
            page.outline.forget(parent)

    def _page_of(self, name: str) -> Page | None:
        for page in reversed(self.pages):
            if name in page.blocks:
                return page
        return None

    def _page_for(self, turn: int) -> Page:
        for page in reversed(self.pages):
            if page.turn == turn:
                return page
            if page.turn < turn:
                break
        made = Page(turn, {})
        self.pages.append(made)
        self.pages.sort(key=lambda page: page.turn)
        return made

    def items(self) -> list[Item]:
        return [item for page in self.pages for item in page.items(self.opened)]

    def toggle(self, name: str, to: bool) -> None:
        self.opened[name] = to
        page = self._page_of(name.rstrip("*"))
        if page is not None:
            page.stale = True
            page.outline.forget(name.rstrip("*"))

    def block(self, name: str) -> Block | None:
        page = self._page_of(name)
        return page.blocks[name] if page else None

    def blocks(self) -> Iterable[Block]:
        for page in self.pages:
            yield from page.blocks.values()

    def forget_lines(self) -> None:
        """Drop all painted lines: the width or the look changed."""
        for item in self.items():
            item.forget()

    def open_asks(self) -> list[Block]:
        return [b for b in self.blocks() if b["role"] == "ask" and b["status"] == "asked"]


def is_top(item: Item) -> bool:
    """Tell whether an item is the note about more above."""
    return str(item.block["id"]).endswith(".above")


def turn_of(name: str) -> int:
    """Return the turn of a block, from its id."""
    turn = name.partition(".")[0]
    return int(turn) if turn.isdigit() and len(turn) < 12 else 0
