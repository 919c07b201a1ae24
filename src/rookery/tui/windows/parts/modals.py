"""Base classes of windows over the screen, and the small dialogs: one line to fill in, and a
confirmation.

The type parameter of a modal is its answer: `app.ask(LineScreen(…), then)`."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label

from rookery.render.runs import clean, clean_line
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.sheet import WINDOWS
from rookery.tui.shell import Shell
from rookery.tui.windows.parts.text_line import TextLine


class Modal[Answer](ModalScreen[Answer | None]):
    """A window with a heading, a body and a line of keys. Esc closes it without an answer."""

    BINDINGS = bindings.WINDOW
    BACK: ClassVar[str] = "back"
    """What Esc does, in a word."""
    KIND: ClassVar[str] = "window"
    """Its classes in the style sheet."""
    HEADING: ClassVar[str] = ""

    def __init__(self, heading: str = "") -> None:
        super().__init__()
        self._heading = heading or self.HEADING
        self.captions: dict[str, str] = {"window.back": self.BACK}
        """By a key's name: this window's word for it."""

    def compose(self) -> ComposeResult:
        self._load_sheet()
        with Vertical(classes=self.KIND):
            yield Label(clean_line(self._heading), classes="title", markup=False)
            yield from self.body()
            yield Label(self.keys_line(), classes="keys")

    def _load_sheet(self) -> None:
        """Load the style sheet of all windows when the first one opens."""
        sheet, place = self.app.stylesheet, ("windows", "")
        if not sheet.has_source(*place):
            sheet.add_source(WINDOWS, read_from=place)
            sheet.reparse()

    def body(self) -> ComposeResult:
        raise NotImplementedError

    def keys_line(self) -> str:
        """Return the line of the window's keys, which can also be clicked."""
        entries = [
            (each.id, label(self.app, each.id), each.action, each.description)
            for kind in type(self).__mro__
            for each in vars(kind).get("BINDINGS", [])
            if isinstance(each, Binding) and each.id and each.show
        ]
        unique: dict[str, str] = {}
        for name, key, action, description in entries:  # a window's own word for a key comes first
            caption = f" {self.captions.get(name, description)}".replace(" ", "\u00a0")
            unique.setdefault(name, f"[@click=screen.{action}][b $accent]{key}[/]{caption}[/]")
        return "   ".join(unique.values())

    def on_mount(self) -> None:
        """Cover the window below: the frames of two would overlap."""
        below = self.app.screen_stack[-2] if len(self.app.screen_stack) > 1 else None
        self.set_class(isinstance(below, ModalScreen), "over")

    @property
    def shell(self) -> Shell:
        app = self.app
        assert isinstance(app, Shell)
        return app

    @property
    def home(self) -> str:
        return self.shell.start.home

    def fetch[Read](self, work: Callable[[], Read], then: Callable[[Read], object]) -> None:
        """Run `work`, which may block; `then` gets its result if the window is still open."""

        def done(outcome: Read) -> None:
            if self.is_attached:
                then(outcome)

        self.shell.reader.fetch(work, done)

    def action_leave(self) -> None:
        self.dismiss(None)


class LineScreen(Modal[str]):
    """A dialog for one line of text. `verb` says what Enter does with it; `may_be_empty` allows an
    empty answer; `below` puts it at the bottom, so that what it is about stays visible."""

    BINDINGS = bindings.LINE

    def __init__(
        self,
        question: str,
        text: str = "",
        hint: str = "",
        *,
        verb: str = "save",
        may_be_empty: bool = False,
        below: bool = False,
    ) -> None:
        super().__init__(question)
        self.set_class(below, "below")
        self.captions["line.take"] = verb
        self._text, self._hint, self._may_be_empty = text, hint, may_be_empty

    def body(self) -> ComposeResult:
        yield TextLine(self._text, placeholder=self._hint)

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        text = self.query_one(TextLine).text
        self.dismiss(text if text or self._may_be_empty else None)


class SureScreen(Modal[bool]):
    """A dialog that asks for confirmation and says what a yes does."""

    BINDINGS = bindings.SURE

    def __init__(self, question: str, detail: str = "") -> None:
        super().__init__(question)
        self._detail = detail

    def body(self) -> ComposeResult:
        if self._detail:
            yield Label(clean(self._detail), markup=False, classes="said")

    def action_yes(self) -> None:
        self.dismiss(True)


class PreviewScreen(SureScreen):
    """A confirmation with a preview, which may be long."""

    BINDINGS = bindings.PREVIEW
    KIND = "window preview"

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield from super().body()

    def action_page_up(self) -> None:
        self.query_one(VerticalScroll).scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        self.query_one(VerticalScroll).scroll_page_down(animate=False)
