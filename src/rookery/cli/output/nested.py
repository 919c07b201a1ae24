"""The output of sub-agents as lines. Those that work at the same time are told apart."""

from collections.abc import Callable, Iterator

from rookery.core.blocks import Block, Document, captions
from rookery.render.lines import block as drawer
from rookery.render.lines import card
from rookery.render.lines.view import View
from rookery.render.runs import Line, clean_line, prefixed

DEEPEST = 8

type Write = Callable[[str, list[Line]], None]
type ViewOf = Callable[[Document, Block], View]


class Nested:
    """Writes what sub-agents say and do. `brief`: without their messages."""

    def __init__(self, write: Write, view_of: ViewOf, *, brief: bool) -> None:
        self._write = write
        self._view_of = view_of
        self._brief = brief
        self._written: set[str] = set()
        self._saying: dict[str, tuple[Document, Block]] = {}
        """By sub-agent: the text that goes on."""
        self._last = ""
        """Who was written last; "": the agent."""

    def hold(self, document: Document, block: Block, *, final: bool) -> None:
        """Hold a text back until it is finished: several may stream at the same time."""
        above = block["parent"]
        if above in self._saying and self._saying[above][1] is not block:
            self.tell(above)
        if block["id"] not in self._written:
            self._saying[above] = (document, block)
        if final:
            self.tell(above)

    def tell(self, above: str | None) -> None:
        """Write the text that a sub-agent has finished."""
        document, block = self._saying.pop(above or "", (None, None))
        if document is None or block is None or self._brief:
            return
        self._written.add(block["id"])
        lines = drawer.rendered(block, [], self._view_of(document, block))
        self._write(block["role"], self.inside(document, block, lines))

    def tell_all(self) -> None:
        for name in [*self._saying]:
            self.tell(name)

    def heading(self, document: Document, block: Block) -> None:
        """Write one line when a sub-agent begins, and one when it is over."""
        over = captions.is_over(block)
        name = f"{block['id']}!" if over else block["id"]
        if name in self._written:
            return
        self._written.add(name)
        self.tell(block["id"])
        view = self._view_of(document, block)
        lines = card.headline(block, [], view if over else view._replace(timed=False))
        self._write("tool", prefixed(lines, margin(document, block)))
        self._last = block["id"]

    def inside(self, document: Document, block: Block, lines: list[Line]) -> list[Line]:
        """Return a block's lines, indented; first its sub-agent's name if another wrote last."""
        above = document.blocks.get(block["parent"] or "")
        other = above is not None and self._last != above["id"]
        if lines and above is not None and other and above.get("kind") == captions.SUBAGENT:
            self._last = above["id"]
            lines = [[(f"{clean_line(above['title'])}:", "faint")], *lines]
        return prefixed(lines, margin(document, block))

    def other(self) -> None:
        """Note that something else was written since the last sub-agent."""
        self._last = ""


def in_order(document: Document, *, full: bool) -> Iterator[Block]:
    """Yield the blocks of a page, each sub-agent before what it said and did. A finished one is
    folded, unless `full`."""
    below: dict[str, list[Block]] = {}
    for block in document.blocks.values():
        if (above := _subagent(document, block)) is not None:
            below.setdefault(above["id"], []).append(block)
    inner = {block["id"] for children in below.values() for block in children}
    waiting = [block for block in document.blocks.values() if block["id"] not in inner][::-1]
    while waiting:
        block = waiting.pop()
        yield block
        folded = captions.is_over(block) and not full
        children = below.get(block["id"], [])
        waiting += [each for each in children if not folded or _waits(each)][::-1]


def _subagent(document: Document, block: Block) -> Block | None:
    above, steps = document.blocks.get(block["parent"] or ""), 0
    while above is not None and steps < 50:
        if captions.is_subagent(above):
            return above
        above, steps = document.blocks.get(above["parent"] or ""), steps + 1
    return None


def _waits(block: Block) -> bool:
    return bool(block["role"] == "ask" and block["status"] == "asked")


def margin(document: Document, block: Block) -> Line:
    """Return what stands left of a block that is nested in others."""
    depth = 0
    while depth < DEEPEST and block["parent"] in document.blocks:
        block = document.blocks[block["parent"]]
        depth += 1
    return [("│ " * depth, "line")] if depth else []
