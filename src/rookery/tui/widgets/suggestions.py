"""Suggestions for what is being typed: a short list above the composer."""

from typing import NamedTuple

from textual import events

from rookery.render.runs import cut, width_of
from rookery.tui.look.runs import Line
from rookery.tui.widgets.status import LineWidget

MAX_ROWS = 8


class Suggestion(NamedTuple):
    insert: str
    """What replaces the word at the cursor."""
    shown: str
    detail: str = ""
    done: bool = False
    """Complete: it is sent at once."""
    marks: tuple[tuple[int, int], ...] = ()
    """From where to where in `detail` is what was looked for."""


class Suggestions(LineWidget):
    """The list, open while there are any suggestions. The composer's keys move its cursor."""

    def __init__(self, *, id: str | None = None, most: int = MAX_ROWS) -> None:
        super().__init__(id=id)
        self._most = most
        self.offers: list[Suggestion] = []
        self.at = 0
        self._top = 0
        self.display = False

    @property
    def is_open(self) -> bool:
        return bool(self.offers)

    @property
    def chosen(self) -> Suggestion:
        return self.offers[self.at]

    def offer(self, suggestions: list[Suggestion]) -> None:
        before = self.chosen.insert if self.offers else ""
        names = [each.insert for each in suggestions]
        self.at = names.index(before) if before in names and self.at else 0
        self.offers = suggestions
        self._show()

    def close(self) -> None:
        if self.offers:
            self.offers, self.at, self._top = [], 0, 0
            self._show()

    def move(self, step: int) -> None:
        self.at = (self.at + step) % len(self.offers)
        self._show()

    def _show(self) -> None:
        rows = min(self._most, len(self.offers))
        self._top = min(max(self._top, self.at - rows + 1), self.at)
        self.display = bool(rows)
        self.styles.height = max(1, rows)
        self.refresh()

    def lines(self, width: int) -> list[Line]:
        look = self.look
        rows = self.offers[self._top : self._top + self._most]
        wide = min(max((width_of(each.shown) for each in rows), default=0), max(8, width - 20))
        left = len(self.offers) - self._top - len(rows)
        more = f"  and {left} more" if left > 0 else ""
        lines: list[Line] = []
        for number, each in enumerate(rows, self._top):
            here = number == self.at
            name = cut(each.shown, wide)
            room = width - wide - 4 - (len(more) if len(lines) == len(rows) - 1 else 0)
            pad = " " * (wide - width_of(name) + 2)
            lines.append(
                [
                    (" ▌" if here else "  ", look.accent),
                    (name + pad, look.key if here else look.ink),
                    *self._beside(each, room),
                ]
            )
        if more:
            lines[-1].append((more, look.faint))
        return lines

    def _beside(self, each: Suggestion, room: int) -> Line:
        look, text, place = self.look, cut(each.detail, max(0, room)), 0
        line: Line = []
        for begins, ends in each.marks:
            line += [(text[place:begins], look.soft), (text[begins:ends], look.needs + look.bold)]
            place = ends
        return [*line, (text[place:], look.soft)]

    def on_click(self, event: events.Click) -> None:
        at = self._top + event.y
        if at < len(self.offers):
            self.at = at
