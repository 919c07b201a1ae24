"""All of what an ask is about, to be scrolled through: a card in the transcript shows the beginning
and the end of what is long."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
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
from rookery.tui.shell import Shell
from rookery.tui.windows.parts.modals import Modal, keys_line


class Whole(ScrollView):
    """Lines, of which only those in sight are painted."""

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
    """It only shows: an ask is answered on its card."""

    BINDINGS: ClassVar[list[BindingType]] = bindings.WHOLE

    def __init__(self, block: Block, agent: str, cwd: str) -> None:
        super().__init__()
        self._block, self._agent, self._cwd = dict(block), agent, cwd
        self._seen = (0, "")
        """The width and the theme that the lines are made for."""

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
        """In a thread: a change of thousands of lines takes a moment to compare."""
        shown, app = self.query_one(Whole), self.app
        width, theme = shown.scrollable_content_region.width - 1, app.theme
        if width <= 0 or (width, theme) == self._seen or not isinstance(app, Shell):
            return
        self._seen = (width, theme)
        block, agent, cwd = self._block, self._agent, self._cwd

        def show(lines: list[Line]) -> None:
            if self.is_attached and (width, theme) == self._seen:
                shown.show(lines)

        look = look_of(theme)
        app.room.fetch(lambda: ask_body.whole(block, agent, cwd, width, look), show)

    def action_up(self) -> None:
        self._scroll(-1)

    def action_down(self) -> None:
        self._scroll(1)

    def action_page_up(self) -> None:
        self._scroll(1 - self.query_one(Whole).size.height)

    def action_page_down(self) -> None:
        self._scroll(self.query_one(Whole).size.height - 1)

    def _scroll(self, lines: int) -> None:
        self.query_one(Whole).scroll_relative(y=lines, animate=False, immediate=True)

    def action_first(self) -> None:
        self.query_one(Whole).scroll_home(animate=False, immediate=True)

    def action_last(self) -> None:
        self.query_one(Whole).scroll_end(animate=False, immediate=True)
