"""Ctrl+R: earlier prompts, by any words in them."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Label

from rookery.tui.keys import bindings
from rookery.tui.look.plain import clean_line
from rookery.tui.widgets.suggestions import Suggestion, Suggestions
from rookery.tui.windows.parts.modals import Modal, keys_line


class SearchScreen(Modal[str]):
    BINDINGS = bindings.SEARCH

    def __init__(self, find: Callable[[str], list[str]], words: str = "") -> None:
        super().__init__()
        self._find, self._words = find, words.partition("\n")[0]
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label("Earlier prompts", classes="title")
            yield Input(self._words, placeholder="any words in it", compact=True)
            yield Suggestions(id="found")
            yield Label("", id="none", classes="hint", markup=False)
            yield Label(keys_line(self), classes="keys")

    def on_mount(self) -> None:
        self._look()

    def on_input_changed(self) -> None:
        self._look()

    def _look(self) -> None:
        self._found = self._find(self.query_one(Input).value)[:100]
        rows = [Suggestion(str(n), clean_line(text, 200)) for n, text in enumerate(self._found)]
        listed = self.query_one("#found", Suggestions)
        listed.close()
        listed.offer(rows)
        self.query_one("#none", Label).display = not rows
        self.query_one("#none", Label).update("" if rows else "No prompt has these words.")

    def action_move(self, step: int) -> None:
        listed = self.query_one("#found", Suggestions)
        if listed.is_open:
            listed.move(step)

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        listed = self.query_one("#found", Suggestions)
        if listed.is_open:
            self.dismiss(self._found[listed.at])
