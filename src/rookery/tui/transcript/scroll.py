"""The transcript's widget: a scroll view over cached strips; lines in view stay in place."""

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from math import ceil
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from rookery import render
from rookery.core.agent.names import agent_name
from rookery.tui import transcript
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import PICTURE, strip_of
from rookery.tui.look.themes import look_for
from rookery.tui.private import AtOnce, KeptLines
from rookery.tui.system.clock import now
from rookery.tui.transcript.item import Item
from rookery.tui.transcript.window import Window, is_top

GUTTER = 3
"""Columns left of a line, for the cursor."""
TICK = 1.0
KEPT = 6
"""Screens around the visible one whose lines are kept."""
ROUNDS = 6
"""Rounds of layout at most."""


def thumb(size: int, high: int, window: int, top: float) -> tuple[int, int]:
    """Return start and end of a scrollbar's thumb in eighths of a cell; 0, 0 if unneeded."""
    if not size or window >= high:
        return 0, 0
    long = max(1.0, window * size / high)
    start = int((size - long) * top / (high - window) * 8)
    return start, start + ceil(long * 8)


class Scroll(AtOnce, KeptLines, ScrollView):
    BINDINGS: ClassVar[list[BindingType]] = []
    can_focus = True
    news = reactive(False)
    """Something was added below the view."""

    class OlderWanted(Message):
        """The view nears the beginning of what is loaded."""

    def __init__(self, clock: Callable[[], int] = now, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.window = Window()
        self.following = True
        """The end stays in view."""
        self.asked_older = False
        self._items: list[Item] = []
        self._starts: list[int] = [0]
        self._settling = False
        self._seen = (0, "")
        """The width and the theme of the lines."""
        self._base: Style | None = None
        self._thumb = (-1, -1)
        self._live = ""
        """The thought that grows at the end."""

    def on_mount(self) -> None:
        self.set_interval(TICK, self._tick)

    # --- what it shows -------------------------------------------------------------------------

    def show(self, window: Window) -> None:
        self.window = window
        self.following, self.news, self.asked_older = True, False, False
        self.window.forget_lines()
        self.settle()

    def changed(self) -> None:
        if not self.following:
            self.news = True
        self.settle()

    def grown(self) -> None:
        """Lay out again after older pages were loaded."""
        self.asked_older = False
        self.settle()

    @property
    def look(self) -> Look:
        return look_for(self.app)

    def view_of(self, item: Item) -> "render.lines.view.View":
        header = self.window.header
        return render.lines.view.View(
            max(1, self.scrollable_content_region.width - GUTTER - 1),
            agent_name(header),
            header.cwd,
            self.is_open(item),
            now=self._clock(),
            live=item.name == self._live,
            folded=self.window.opened.get(item.name) is False,
        )

    def is_open(self, item: Item) -> bool:
        """Tell whether an item is open: as the user left it, else by the settings."""
        chosen = self.window.opened.get(item.name)
        if chosen is not None:
            return chosen
        return transcript.folding.opens(item, self.app)

    # --- layout --------------------------------------------------------------------------------

    def settle(self) -> None:
        """Lay out again, keeping the place, or the end, in view."""
        width, height = self.scrollable_content_region.size
        if not width or not height or self._settling:
            return
        self._settling = True
        try:
            self._settle(width, height)
        finally:
            self._settling = False
        self.refresh()

    def _settle(self, width: int, height: int) -> None:
        place = None if self.following else self._place()
        if self._seen != (width, self.app.theme):
            self._seen = (width, self.app.theme)
            self.window.forget_lines()
        self._items = self.window.items()
        self._find_live()
        for item in self._items:
            if item.lines is None and item.height <= 1:
                item.height = item.guessed(width)
        for _ in range(ROUNDS):
            self._measure()
            top = self._top(place, height)
            if not self._paint_from(top, height):
                break
        self._measure()
        # Silently: a layout of the whole screen for each streamed line is expensive, and moves no
        # other widget.
        self.set_reactive(ScrollView.virtual_size, Size(width, self._starts[-1]))
        self.scroll_to(y=self._top(place, height), animate=False, force=True, immediate=True)
        self._move_bar()

    def _find_live(self) -> None:
        """Find the thought that still grows. It folds once something else follows it, or the turn
        is over."""
        last = self._items[-1] if self._items else None
        lives = last and last.block["role"] == "thought" and self.window.header.state != "idle"
        live = last.name if last and lives else ""
        if live != self._live:
            for item in self._items:
                if item.name in (live, self._live):
                    item.forget()
            self._live = live

    def end_live(self) -> None:
        """Fold the growing thought if the turn is over: a new header alone paints nothing."""
        if self._live and self.window.header.state == "idle":
            self.settle()

    def _move_bar(self) -> None:
        """Move the scrollbar. It is painted again only if the change is visible: beside a long text
        it hardly moves."""
        bar, high = self.vertical_scrollbar, self.virtual_size.height
        window = self.scrollable_content_region.height
        seen = thumb(bar.size.height, high, window, self.scroll_y)
        if seen == self._thumb:
            bar.set_reactive(ScrollBar.window_virtual_size, high)
            bar.set_reactive(ScrollBar.window_size, window)
            bar.set_reactive(ScrollBar.position, self.scroll_y)
        else:
            self._thumb = seen
            bar.window_virtual_size, bar.window_size, bar.position = high, window, self.scroll_y

    def _measure(self) -> None:
        self._starts = [0, *accumulate(item.height for item in self._items)]

    def _place(self) -> tuple[str, int] | None:
        """Return the item at the top of the view, and how far it is scrolled out of it."""
        y = round(self.scroll_y)
        at = self._at(y)
        if at is None:
            return None
        if is_top(self._items[at]) and at + 1 < len(self._items):
            at += 1  # what is above comes between the two
        return self._items[at].key, y - self._starts[at]

    def _top(self, place: tuple[str, int] | None, height: int) -> int:
        end = max(0, self._starts[-1] - height)
        if place is None:
            return end
        for at, item in enumerate(self._items):
            if item.key == place[0]:
                return min(end, self._starts[at] + min(place[1], max(0, item.height - 1)))
        return min(end, round(self.scroll_y))

    def _paint_from(self, top: int, height: int) -> bool:
        """Render what is in view and around it. Return whether a guessed height was wrong."""
        first, moved = self._at(max(0, top - height // 2)) or 0, False
        for at in range(first, len(self._items)):
            if self._starts[at] > top + height + height // 2:
                break
            item = self._items[at]
            if item.lines is None:
                before = item.height
                self._paint(item)
                moved = moved or item.height != before
        return moved

    def _paint(self, item: Item) -> None:
        page = next((p for p in reversed(self.window.pages) if item.block["id"] in p.blocks), None)
        starts = page.outline.starts(item.block["id"]) if page else ()
        item.paint(transcript.painting.painted(item, starts, self.view_of(item), self.look))

    def _at(self, y: int) -> int | None:
        """Return the index of the item at line y."""
        if not self._items:
            return None
        at = bisect_right(self._starts, y) - 1
        return max(0, min(at, len(self._items) - 1))

    def item_at(self, y: int) -> Item | None:
        """Return the item under a line of the view."""
        row = y + self.scroll_offset.y
        at = self._at(row)
        return self._items[at] if at is not None and row < self._starts[-1] else None

    # --- moving --------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self.refresh()
        if self._settling:
            return
        self._move_bar()
        self.following = new_value >= self.max_scroll_y - 0.5
        if self.following:
            self.news = False
        self.settle()
        self.ask_older()

    def ask_older(self) -> None:
        """Request older pages if the beginning of what is loaded is near."""
        near = self.scroll_y < max(10, self.size.height // 2)
        if near and self.window.first > 1 and not self.asked_older:
            self.asked_older = True
            self.post_message(self.OlderWanted())

    def to_end(self) -> None:
        self.following, self.news = True, False
        self.settle()

    def to_start(self) -> None:
        self.following = False
        self.scroll_to(y=0, animate=False, immediate=True)

    def on_resize(self) -> None:
        self.settle()

    def _tick(self) -> None:
        """Update running cards, which count their seconds."""
        self._let_go()
        moved = False
        for item in self._items[self._at(self.scroll_offset.y) or 0 :]:
            if item.block["role"] == "tool" and item.block["status"] == "running":
                item.forget()
                moved = True
        if moved:
            self.settle()

    def _let_go(self) -> None:
        """Free the lines of items far out of view."""
        far = KEPT * max(1, self.size.height)
        top = self.scroll_offset.y - far
        for at, item in enumerate(self._items):
            if item.lines is not None and not top <= self._starts[at] <= top + 2 * far:
                item.let_go()

    # --- painting ------------------------------------------------------------------------------

    def made_lines(self, crop: Region) -> list[Strip]:
        """Return the ready lines as they are; Textual would make each one again."""
        background, width, top = self.background_colors[1], self.size.width, round(self.scroll_y)
        strips = [self._line(y, y + top, width) for y in crop.line_range]
        for each in self.get_line_filters():
            strips = [strip.apply_filter(each, background) for strip in strips]
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """Return a line with offsets, for selecting with the mouse."""
        row = y + round(self.scroll_y)
        return self._line(y, row, self.size.width).apply_offsets(0, row)

    def _line(self, y: int, row: int, width: int) -> Strip:
        at = self._at(row)
        if at is None or row >= self._starts[-1] or self._items[at].lines is None:
            strip = self._hint() if y == 1 and not self._items else Strip([])
            return self._overlay(y, row, strip.crop_extend(0, width, self.base))
        line = self._ready(self._items[at], row - self._starts[at], width)
        chosen = self.text_selection is not None
        return self._overlay(y, row, self._selected(line, row) if chosen else line)

    def _hint(self) -> Strip:
        runs = [(" " * GUTTER, self.look.plain), (self.window.hint, self.look.soft)]
        return strip_of(runs).apply_style(self.base)

    def _ready(self, item: Item, number: int, width: int) -> Strip:
        gutter, base = self.gutter_of(item, number), self.base
        state = (width, gutter, base)
        known = item.ready.get(number)
        if known is not None and known[0] == state:
            return known[1]
        lines = item.lines or []
        body = lines[number] if number < len(lines) else Strip([])
        segments = [
            Segment(text, base if style is None else base + style)
            for text, style, _ in (gutter, *body)
        ]
        taken = GUTTER + body.cell_length
        if taken < width:
            segments.append(Segment(" " * (width - taken), base))
        line = Strip(segments, max(taken, width))
        if taken > width:
            line = line.crop(0, width)
        item.ready[number] = (state, line)
        return line

    @property
    def base(self) -> Style:
        """The widget's own style, cached."""
        if self._base is None:
            self._base = self.rich_style
        return self._base

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base = None

    def gutter_of(self, item: Item, number: int) -> Segment:  # noqa: ARG002
        return Segment(" " * GUTTER)

    def below(self, row: int) -> str:  # noqa: ARG002
        """Return the note about the lines below the view."""
        return "new below · End" if self.news else ""

    def _overlay(self, y: int, row: int, line: Strip) -> Strip:
        """Put the note about the lines below, such as `new below`, over the last line."""
        if not (note := self.below(row)) or y != self.scrollable_content_region.height - 1:
            return line
        look, base = self.look, self.base
        strip = strip_of([(f" ↓ {note} ", look.accent + look.bold)]).apply_style(base)
        kept = max(0, self.scrollable_content_region.width - strip.cell_length - 2)
        return Strip.join([line.crop(0, kept), strip]).extend_cell_length(self.size.width, base)

    def _selected(self, line: Strip, row: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(row) if selection is not None else None
        if span is None:
            return line
        first, last = span
        last = line.cell_length if last == -1 else last
        marked = line.crop(first, last).apply_style(
            self.screen.get_component_rich_style("screen--selection")
        )
        return Strip.join([line.crop(0, first), marked, line.crop(last)])

    def get_selection(self, selection: object) -> tuple[str, str] | None:
        rows: list[str] = []
        for item in self._items:
            if item.lines is None:
                rows += [""] * item.height
            else:
                texts = (strip.text.partition(PICTURE)[0] for strip in item.lines)
                rows += [(" " * GUTTER + text).rstrip() for text in texts]
        return selection.extract("\n".join(rows)), "\n"  # type: ignore[attr-defined]
