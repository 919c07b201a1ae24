"""The widget for the files of the next prompt."""

from typing import TYPE_CHECKING

from textual import events

from rookery.core import units
from rookery.render.runs import clean_line, cut, width_of
from rookery.tui.look.runs import Line
from rookery.tui.record import Record
from rookery.tui.widgets.status import LineWidget

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class Chips(LineWidget):
    """One line above the composer; a click removes a file."""

    class Clicked(Record):
        place: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.files: list[Attachment] = []
        self.display = False

    def tell(self, files: "list[Attachment]") -> None:
        self.files = files
        self.display = bool(files)
        self.refresh()

    def lines(self, width: int) -> list[Line]:  # noqa: ARG002
        look = self.look
        line: Line = [(" ", look.plain)]
        for label in self._labels():
            line += [("▣ ", look.accent), (label, look.ink), (" ×  ", look.soft)]
        line.append(("Backspace to remove the last", look.faint))
        return [line]

    def _labels(self) -> list[str]:
        return [
            f"{cut(clean_line(each.path.rpartition('/')[2]), 30)} {units.size(len(each.data))}"
            for each in self.files
        ]

    def on_click(self, event: events.Click) -> None:
        at = 1
        for place, label in enumerate(self._labels()):
            at += width_of(label) + 6
            if event.x < at:
                self.post_message(self.Clicked(place))
                return
