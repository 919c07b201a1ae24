"""All of what an ask is about: its card shows only the beginning and the end."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Label

from rookery.core.blocks import asks
from rookery.core.blocks.document import Block
from rookery.tui.keys import bindings
from rookery.tui.look import ask_body
from rookery.tui.look.palette import look_of
from rookery.tui.look.runs import Line, strip_of
from rookery.tui.windows.parts.modals import Modal, keys_line


class Whole(ScrollView):
    """Lines; only the visible ones are painted."""

    def __init__(self) -> None:
        super().__init__(id="whole")
        self._lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        self._lines = lines
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row, width = y + round(self.scroll_y), self.size.width
        base = self.rich_style
        line = self._lines[row] if row < len(self._lines) else []
        return strip_of(line).apply_style(base).crop_extend(0, width, base)


class AskScreen(Modal[None]):
    """Shows only: an ask is answered on its card."""

    BINDINGS = bindings.WHOLE

    def __init__(self, block: Block, agent: str, cwd: str) -> None:
        super().__init__()
        self._block, self._agent, self._cwd = dict(block), agent, cwd
        self._seen = (0, "")

    def compose(self) -> ComposeResult:
        words = asks.question(self._block, self._agent, self._cwd)
        with Vertical(classes="window tall wide whole"):
            yield Label(words[:1].upper() + words[1:], classes="title", markup=False)
            yield Whole()
            yield Label(keys_line(self), classes="keys")

    def on_mount(self) -> None:
        super().on_mount()
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._lay_out())

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        """In a thread: comparing thousands of lines takes a moment."""
        shown = self.query_one(Whole)
        width, theme = shown.scrollable_content_region.width - 1, self.app.theme
        if width <= 0 or (width, theme) == self._seen:
            return
        self._seen = (width, theme)
        block, agent, cwd, look = self._block, self._agent, self._cwd, look_of(theme)

        def show(lines: list[Line]) -> None:
            if (width, theme) == self._seen:
                shown.show(lines)

        self.fetch(lambda: ask_body.whole(block, agent, cwd, width, look), show)

    def action_move(self, lines: int) -> None:
        self.query_one(Whole).scroll_relative(y=lines, animate=False, immediate=True)

    def action_page_up(self) -> None:
        self.action_move(1 - self.query_one(Whole).size.height)

    def action_page_down(self) -> None:
        self.action_move(self.query_one(Whole).size.height - 1)

    def action_first(self) -> None:
        self.query_one(Whole).scroll_home(animate=False, immediate=True)

    def action_last(self) -> None:
        self.query_one(Whole).scroll_end(animate=False, immediate=True)
