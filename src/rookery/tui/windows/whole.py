"""Windows with a long text: everything an ask is about, since its card shows only the beginning and
the end; the result of a read operation; what a session's agent wrote to stderr."""

from typing import TYPE_CHECKING

from rich.style import Style
from textual.app import ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rookery.core.blocks import Block, asks
from rookery.core.refusals import Refused
from rookery.render import qr
from rookery.render.lines import ask_body
from rookery.render.lines.texts import printed
from rookery.render.lines.view import View
from rookery.render.runs import broken, fold
from rookery.tui.keys import bindings
from rookery.tui.look.runs import Line, painted, strip_of
from rookery.tui.look.themes import look_for
from rookery.tui.windows.parts.modals import Modal

if TYPE_CHECKING:
    from rookery.operations.calling.interface import Rookery

QR_COLOURS = Style(color="#ffffff", bgcolor="#000000")
"""Whatever the theme: readers want dark squares on light ground."""
LOG_END = 64 * 1024
"""Bytes of a log's end that are shown."""


class Whole(ScrollView):
    """A view of many lines, of which only the visible ones are painted."""

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


class WholeScreen(Modal[None]):
    BINDINGS = bindings.WHOLE
    KIND = "window tall wide whole"

    def body(self) -> ComposeResult:
        yield Whole()

    @property
    def whole(self) -> Whole:
        return self.query_one(Whole)

    def action_move(self, lines: int) -> None:
        self.whole.scroll_relative(y=lines, animate=False, immediate=True)

    def action_page_up(self) -> None:
        self.action_move(1 - self.whole.size.height)

    def action_page_down(self) -> None:
        self.action_move(self.whole.size.height - 1)

    def action_first(self) -> None:
        self.whole.scroll_home(animate=False, immediate=True)

    def action_last(self) -> None:
        self.whole.scroll_end(animate=False, immediate=True)


class AskScreen(WholeScreen):
    """An ask in full, for reading only: it is answered on its card."""

    def __init__(self, block: Block, agent: str, cwd: str) -> None:
        question = asks.question(block, agent, cwd)
        super().__init__(question[:1].upper() + question[1:])
        self._block, self._agent, self._cwd = dict(block), agent, cwd
        self._seen = (0, "")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._lay_out())

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        """Lay out the lines in a thread: comparing thousands of them takes a moment."""
        width, theme = self.whole.scrollable_content_region.width - 1, self.app.theme
        if width <= 0 or (width, theme) == self._seen:
            return
        self._seen = (width, theme)
        view, look = View(width, self._agent, self._cwd), look_for(self.app)

        def show(lines: list[Line]) -> None:
            if (width, theme) == self._seen:
                self.whole.show(lines)

        def drawn() -> list[Line]:
            return [painted(line, look) for line in ask_body.whole(self._block, view)]

        self.fetch(drawn, show)


class QRScreen(WholeScreen):
    """A URL as a QR code for a phone's camera, with the URL itself below."""

    def __init__(self, address: str) -> None:
        super().__init__("Scan with a phone")
        self._address = address

    def on_resize(self) -> None:
        self.fetch(lambda: _qr(self._address), self._show)

    def _show(self, code: str) -> None:
        look, size = look_for(self.app), self.whole.scrollable_content_region
        rows, width = code.split("\n"), max(1, size.width - 1)
        lines: list[Line] = [[(row, look.plain + QR_COLOURS)] for row in rows]
        if not code:
            lines = [[("The address is too long for a QR code.", look.needs)]]
        elif len(rows[0]) > size.width or len(rows) > size.height:
            wide, high = len(rows[0]) + 4, len(rows) + 6
            text = f"The QR code needs a terminal of {wide} columns and {high} lines."
            lines = [[(text, look.needs)]]
        rest = broken(self._address, width)
        self.whole.show([*lines, [], *([(each, look.ink)] for each in rest)])


def _qr(address: str) -> str:
    try:
        return qr.drawn(address)
    except qr.TooLong:
        return ""


class TextScreen(WholeScreen):
    """A text, shown from its beginning. A short one gets a low window."""

    def __init__(self, heading: str, text: str = "") -> None:
        super().__init__(heading)
        self._text = text

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        width = max(1, self.whole.scrollable_content_region.width - 1)
        look = look_for(self.app)
        lines = (fold(line, width) for line in printed(self._text))
        rows = [painted(row, look) for folded in lines for row in folded]
        self.query_one(".window").set_class(len(rows) <= self.app.size.height // 2, "short")
        self.whole.show(rows)
        self.whole.refresh(layout=True)


class LogScreen(TextScreen):
    def __init__(self, session: str, title: str, of: str = "agent") -> None:
        super().__init__(f"Log of {title}")
        self._session, self._of = session, of

    def on_mount(self) -> None:
        self.call_after_refresh(self._load)

    def _load(self) -> None:
        session, of, rookery = self._session, self._of, self.shell.reader.rookery
        self.fetch(lambda: last_words(rookery, session, of), self._show)

    def _show(self, text: str) -> None:
        self._text = text or "The log is empty."
        self._lay_out()
        self.call_after_refresh(self.action_last)


def last_words(rookery: "Rookery", session: str, of: str) -> str:
    try:
        reply = rookery.call("logs", session, of=of, bytes=LOG_END)
        return str(reply["text"]).strip("\n")
    except Refused as error:
        return error.sentences
