"""A list in a window: rows with a sign, a name and details, and keys that act on the current
row."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rookery.forms.lists import Row
from rookery.home import config, mcp
from rookery.render.runs import clean, clean_line, width_of
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.modals import Modal, SureScreen

SIGNS = {"on": ("●", "$success"), "off": ("○", "$ink-2"), "bad": ("✗", "$error"), "": (" ", "")}


class RowsScreen[Answer](Modal[Answer]):
    """A window with a list. A subclass provides `load` (run in the reader thread), `shown` (its
    rows) and the keys' actions; for removing rows, also REMOVES and `drop`."""

    KIND = "window list"
    WIDE: ClassVar[int] = 0
    """Columns of a title, with the rest beside it; 0: the rest is below."""
    EMPTY: ClassVar[str] = "Nothing yet."
    NEW: ClassVar[str] = ""
    """The key that adds a row."""
    REMOVES: ClassVar[tuple[str, str]] = ("", "")
    """The question, with {} for the row's title, and what a yes does."""

    def __init__(self, title: str = "") -> None:
        super().__init__(title)
        self.rows: list[Row] = []
        self.then = ""
        """The row that the cursor goes to when they are shown again."""

    def body(self) -> ComposeResult:
        yield OptionList(compact=True, markup=False)
        yield Static("", classes="told quiet", id="told", markup=False)

    def on_mount(self) -> None:
        self.set_focus(self.query_one(OptionList))
        self.begin()

    def begin(self) -> None:
        self.reload()

    def reload(self) -> None:
        self.fetch(self._loaded, self._show)

    def _loaded(self) -> tuple[Any, str]:
        try:
            return self.load(), ""
        except (config.ConfigError, mcp.McpError) as error:
            return None, f"✗ {error}"

    def _show(self, outcome: tuple[Any, str]) -> None:
        rows, why = outcome
        self.fill([] if why else self.shown(rows))
        if why:
            self.tell(why)

    def load(self) -> Any:
        """Load what the rows are made of; reads files. Raises ConfigError, McpError."""
        raise NotImplementedError

    def shown(self, loaded: Any) -> Sequence[Row]:
        raise NotImplementedError

    def fill(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor stays on its row, and starts on the current one."""
        listed = self.query_one(OptionList)
        before = self.then or (self.current.name if self.current else None)
        self.then = ""
        self.rows = list(rows)
        listed.clear_options()
        listed.add_options([Option(_content(row, self.WIDE)) for row in self.rows])
        names = [row.name for row in self.rows]
        tagged = next((at for at, row in enumerate(self.rows) if row.tag == "current"), 0)
        listed.highlighted = (names.index(before) if before in names else tagged) if names else None
        listed.display = bool(names)
        if names and self.focused is None:
            self.set_focus(listed)
        if not names:
            key = f" {label(self.app, self.NEW)} adds one." if self.NEW else ""
            self.tell(f"{self.EMPTY}{key}")

    @property
    def current(self) -> Row | None:
        at = self.query_one(OptionList).highlighted
        return self.rows[at] if at is not None and at < len(self.rows) else None

    def tell(self, text: str) -> None:
        """Show a line under the rows."""
        status = self.query_one("#told", Static)
        status.update(clean(text))
        status.set_class(not text, "quiet")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.current is not None:
            self.choose(self.current)

    def choose(self, row: Row) -> None:
        """Handle Enter or a click on a row."""
        raise NotImplementedError

    def action_choose(self) -> None:
        if self.current:
            self.choose(self.current)

    def action_remove(self) -> None:
        if (row := self.current) is not None:
            question, detail = self.REMOVES
            screen = SureScreen(question.format(row.title), detail)
            self.shell.ask(screen, lambda _: self.drop(row.name))

    def drop(self, name: str) -> None:
        raise NotImplementedError

    def ended(self, text: str) -> None:
        """Show a change after it was made: reload the rows and say so."""
        self.reload()
        self.tell(text)


def _content(row: Row, wide: int) -> Content:
    sign, colour = SIGNS.get(row.sign, SIGNS[""])
    title = clean_line(row.title)
    parts: list[Any] = [(f"{sign} ", colour), (title, "bold")]
    tag = (f"  {clean_line(row.tag)}" if row.tag else "", "$foreground")
    more = (clean_line(row.more), "$ink-2")
    if wide:
        parts += [" " * max(2, wide - width_of(title)), more, tag]
    else:
        parts += [tag, *(["\n  ", more] if row.more else [])]
    return Content.assemble(*parts)
