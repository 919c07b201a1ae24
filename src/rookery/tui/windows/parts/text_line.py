"""A one-row field whose text may have several lines: a sign stands for each line end."""

from typing import override

from textual import events
from textual.widgets import Input

from rookery.render.runs import clean_line

LINE_END = "⏎"


class TextLine(Input):
    """A field that keeps the lines of a paste; Textual's own field would drop all but the first.
    Secrets have one line, since a key is often copied with the newline behind it."""

    def __init__(
        self, text: str = "", *, id: str | None = None, placeholder: str = "", secret: bool = False
    ) -> None:
        shown = LINE_END.join(clean_line(line) for line in text.split("\n"))
        super().__init__(shown, id=id, placeholder=placeholder, password=secret, compact=True)

    @property
    def text(self) -> str:
        return self.value.replace(LINE_END, "\n").strip()

    @override
    def _on_paste(self, event: events.Paste) -> None:
        lines = event.text.strip("\n").split("\n")
        if len(lines) > 1 and not self.password:
            event.prevent_default()
            event.stop()
            self.replace(LINE_END.join(lines), *self.selection)
