"""Find in the transcript: the blocks with the search text, and its occurrences marked."""

from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rookery import render
from rookery.tui.transcript.item import Item
from rookery.tui.transcript.scroll import Scroll


class Finding(Scroll):
    """The search in a transcript. `finding`: the search text, case-folded; "" for no search."""

    finding = ""

    def matches(self, query: str) -> list[str]:
        """Return the names of the loaded blocks that contain the text, from the top."""
        text, names = query.casefold(), dict[str, None]()
        for item in self._items if text else ():
            if item.name not in names and text in _text(item).casefold():
                names[item.name] = None
        return list(names)

    def mark(self, query: str) -> None:
        self.finding = query.casefold()
        self.refresh()

    def reveal_match(self, name: str) -> None:
        """Scroll to the first occurrence in a block; a folded block is opened."""
        at = next((at for at, item in enumerate(self._items) if item.name == name), None)
        if at is None:
            return
        self.following = False
        self.scroll_to(y=self._starts[at], animate=False, immediate=True)
        self.settle()
        row = self._row_of(name)
        item = next(item for item in self._items if item.name == name)
        folded = item.members or render.lines.block.can_open(item.block, item.terminals)
        if row is None and folded and not self.is_open(item):
            self.window.toggle(name, to=True)
            self.settle()
            row = self._row_of(name)
        if row is not None:
            top = max(0, row - self.scrollable_content_region.height // 3)
            self.scroll_to(y=top, animate=False, immediate=True)
        self.refresh()

    def item_of(self, block: str) -> Item | None:
        """Return the item that shows a block, perhaps a folded row of calls; None if absent."""
        for item in self._items:
            if block in {each["id"] for each in (item.block, *item.members, *item.terminals)}:
                return item
        return None

    def _row_of(self, name: str) -> int | None:
        """Return the line of the first occurrence; stretches of a long text that are out of sight
        are painted for that."""
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
    members = item.members or [item.block]
    terminals = [] if item.members else item.terminals
    text_of = render.lines.block.text_of
    return "\n".join(f"{each['title']}\n{text_of(each, terminals)}" for each in members)


def _marked(line: Strip, query: str, style: Style) -> Strip:
    """Mark the occurrences in a line. Segments are cut where they begin and end."""
    text = line.text.casefold()
    if len(text) != len(line.text):  # a letter that folds into two: the places would not fit
        return line
    spans, at = list[tuple[int, int]](), text.find(query)
    while at >= 0:
        spans.append((at, at + len(query)))
        at = text.find(query, at + len(query))
    segments: list[Segment] = []
    begin = 0
    for piece, own, _ in line:
        end = begin + len(piece)
        edges = sorted({begin, end, *(e for span in spans for e in span if begin < e < end)})
        for first, last in pairwise(edges):
            inside = any(a <= first < b for a, b in spans)
            shown = (own or Style()) + style if inside else own
            segments.append(Segment(piece[first - begin : last - begin], shown))
        begin = end
    return Strip(segments, line.cell_length)
