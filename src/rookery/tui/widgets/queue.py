"""The list of queued prompts, in order."""

from textual import events

from rookery.core.agent.prompt import words_of
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.render.runs import clean_line
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.look.runs import Line
from rookery.tui.record import Record
from rookery.tui.widgets.status import LineWidget


class Queue(LineWidget):
    MAX_ROWS = 4
    can_focus = True
    BINDINGS = bindings.QUEUE

    class Changed(Record):
        """The user acted on a prompt; `what` is edit, earlier, later, remove or send."""

        what: str
        item: Json
        place: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.items: list[Json] = []
        self.at = 0
        self.held = False
        """The last turn failed: they are sent when the user says so."""

    def tell(self, header: Header | None) -> None:
        items = header.queue if header else []
        ended = header.reason if header and header.state == "idle" else ""
        held = ended not in ("", "end_turn")
        if (items, held) == (self.items, self.held):
            return
        self.held = held
        chosen = self.items[self.at].get("id") if self.items else None
        names = [item.get("id") for item in items]
        self.at = names.index(chosen) if chosen in names else min(self.at, max(0, len(items) - 1))
        self.items = items
        rows = min(len(items), self.MAX_ROWS)
        self.display = bool(rows)
        self.styles.height = max(1, rows)
        if not rows and self.has_focus:
            self.screen.set_focus(self.screen.query_one("#composer"))
        self.refresh()

    def action_choose(self, step: int) -> None:
        self.at = max(0, min(len(self.items) - 1, self.at + step))
        self.refresh()

    def action_change(self, what: str) -> None:
        if self.items:
            self.post_message(self.Changed(what, self.items[self.at], self.at))

    def on_click(self, event: events.Click) -> None:
        self.at = min(self._top() + event.y, len(self.items) - 1)
        self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _top(self) -> int:
        return max(0, min(self.at - self.MAX_ROWS + 1, len(self.items) - self.MAX_ROWS))

    def lines(self, width: int) -> list[Line]:  # noqa: ARG002
        look = self.look
        top = self._top()
        rows = self.items[top : top + self.MAX_ROWS]
        lines: list[Line] = []
        for place, item in enumerate(rows, top):
            text = clean_line(words_of(lenient.sequence(item, "prompt")))
            here = self.has_focus and place == self.at
            line: Line = [("▌" if here else " ", look.accent)]
            state = "held" if self.held and not item.get("placeless") else "queued"
            line += [(f"{place + 1} {state}  ", look.needs)]
            line.append((text, look.ink if here else look.soft))
            lines.append(line)
        more = len(self.items) - len(rows)
        if more > 0:
            lines[-1].append((f"  and {more} more", look.faint))
        elif lines and not self.has_focus:
            way = label(self.app, "queue.focus")
            send = f", then {label(self.app, 'queue.send')} to send" if self.held else " to edit"
            lines[-1].append((f"  {way}{send}", look.faint))
        return lines
