"""The line in which one types what to find in the transcript."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

from rookery.tui.keys import bindings
from rookery.tui.record import Record


class FindBar(Horizontal, inherit_bindings=False):
    """Hidden until it is opened. It says what is typed; who finds is told by `tell`."""

    BINDINGS: ClassVar[list[BindingType]] = bindings.FIND

    class Changed(Record):
        words: str

    class Moved(Record):
        """To the match above (-1) or below."""

        step: int

    class Closed(Record):
        pass

    def compose(self) -> ComposeResult:
        yield Label(" find ", classes="name")
        yield Input(placeholder="words in the transcript", compact=True)
        yield Label("", classes="told", markup=False)

    def on_mount(self) -> None:
        self.display = False

    @property
    def words(self) -> str:
        return self.query_one(Input).value.strip()

    def open(self) -> None:
        self.display = True
        self.screen.set_focus(self.query_one(Input))  # at once: the next letter is for it
        self.query_one(Input).action_select_all()
        self.post_message(self.Changed(self.words))

    def tell(self, words: str) -> None:
        self.query_one(".told", Label).update(words)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self.post_message(self.Changed(self.words))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Moved(-1))

    def action_move(self, step: int) -> None:
        self.post_message(self.Moved(step))

    def action_close(self) -> None:
        self.display = False
        self.post_message(self.Closed())
