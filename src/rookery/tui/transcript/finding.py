"""Find in the transcript: the blocks that have the words, and the words marked where they stand."""

from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rookery.tui.transcript.item import Item
from rookery.tui.transcript.scroll import Scroll


class Finding(Scroll):
    """`finding`: the words, in small letters; empty: nothing is looked for."""

    finding = ""

    def matches(self, words: str) -> list[str]:
        """The names of the loaded blocks that have the words, from the top."""
        wanted, found = words.casefold(), dict[str, None]()
        for item in self._items if wanted else ():
            if item.name not in found and wanted in _text(item).casefold():
                found[item.name] = None
        return list(found)

    def mark(self, words: str) -> None:
        self.finding = words.casefold()
        self.refresh()

    def reveal_match(self, name: str) -> None:
        """Scroll to the first place in a block that has the words; a folded one is opened."""
        from rookery.tui.look.block import can_open

        at = next((at for at, item in enumerate(self._items) if item.name == name), None)
        if at is None:
            return
        self.following = False
        self.scroll_to(y=self._starts[at], animate=False, immediate=True)
        self.settle()
        row = self._row_of(name)
        item = next(item for item in self._items if item.name == name)
        folded = item.members or can_open(item.block, item.terminals)
        if row is None and folded and not self.is_open(item):
            self.window.toggle(name, to=True)
            self.settle()
            row = self._row_of(name)
        if row is not None:
            top = max(0, row - self.scrollable_content_region.height // 3)
            self.scroll_to(y=top, animate=False, immediate=True)
        self.refresh()

    def item_of(self, block: str) -> Item | None:
        """The item that shows a block: also a row of calls that is folded."""
        for item in self._items:
            if block in {each["id"] for each in (item.block, *item.members, *item.terminals)}:
                return item
        return None

    def _row_of(self, name: str) -> int | None:
        """The line with the words; stretches of a long text that are out of sight are painted."""
        for at, item in enumerate(self._items):
            if item.name != name:
                continue
            if item.lines is None:
                self._paint(item)
            for number, line in enumerate(item.lines or ()):
                if self.finding in line.text.casefold():
                    self._measure()
                    return self._starts[at] + number
        return None

    def _line(self, y: int, row: int, width: int) -> Strip:
        line = super()._line(y, row, width)
        if not self.finding or self.finding not in line.text.casefold():
            return line
        return _marked(line, self.finding, Style(reverse=True) + self.look.needs)


def _text(item: Item) -> str:
    from rookery.tui.look.block import text_of

    members = item.members or [item.block]
    terminals = [] if item.members else item.terminals
    return "\n".join(f"{each['title']}\n{text_of(each, terminals)}" for each in members)


def _marked(line: Strip, words: str, style: Style) -> Strip:
    """Segments are cut where the words begin and end."""
    text = line.text.casefold()
    if len(text) != len(line.text):  # a letter that folds into two: the places would not fit
        return line
    spans, at = list[tuple[int, int]](), text.find(words)
    while at >= 0:
        spans.append((at, at + len(words)))
        at = text.find(words, at + len(words))
    found: list[Segment] = []
    begin = 0
    for piece, own, _ in line:
        end = begin + len(piece)
        edges = sorted({begin, end, *(e for span in spans for e in span if begin < e < end)})
        for first, last in pairwise(edges):
            inside = any(a <= first < b for a, b in spans)
            shown = (own or Style()) + style if inside else own
            found.append(Segment(piece[first - begin : last - begin], shown))
        begin = end
    return Strip(found, line.cell_length)
