"""Where a person writes: Enter sends, a newline has keys of its own. Nothing written is ever
lost."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class Composer(TextArea):
    """Several lines. Others add to it by answering its messages, and by `insert`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "send", priority=False, id="composer.send"),
        Binding("shift+enter,ctrl+j", "newline", "newline", show=False, id="composer.newline"),
    ]

    class Submitted(Message):
        """A prompt is complete, for the session that it was written to."""

        def __init__(self, text: str, session: str) -> None:
            super().__init__()
            self.text = text
            self.session = session

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            placeholder="Write here. Enter sends, Shift+Enter or Ctrl+J makes a new line.",
        )

    session = ""
    """Whom it writes to; empty: a new session."""

    async def _on_key(self, event: events.Key) -> None:
        """The text area would take these keys as letters."""
        match event.key:
            case "enter":
                event.stop()
                event.prevent_default()
                self.action_submit()
            case "shift+enter" | "ctrl+j":
                event.stop()
                event.prevent_default()
                self.action_newline()

    def action_submit(self) -> None:
        if self.text.strip():
            self.post_message(self.Submitted(self.take(), self.session))

    def action_newline(self) -> None:
        self.insert("\n")

    def take(self) -> str:
        """The text, which is then gone from here."""
        text = self.text
        self.clear()
        return text
