"""The session list at the left: those that need you first, each with its state."""

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rookery.core.blocks.document import Block
from rookery.core.view.fleet import STATE_WORDS
from rookery.tui.keys import bindings
from rookery.tui.look.palette import look_of
from rookery.tui.look.plain import clean_line, cut
from rookery.tui.look.runs import Line, strip_of, trimmed
from rookery.tui.record import Record

ROWS = 3
"""Lines of a session: title, state, and an empty one."""


class Fleet(ScrollView):
    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = bindings.FLEET

    class Chosen(Record):
        session: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sessions: list[Block] = []
        self.shown = ""
        """The session that the transcript shows."""
        self.unread: set[str] = set()
        self._cursor = ""

    def list_sessions(self, sessions: list[Block]) -> None:
        self.unread = {block["id"] for block in sessions if block["unread"]} - {self.shown}
        self.sessions = sessions
        if self.has_focus:
            self.on_focus()
        self.virtual_size = Size(self.size.width, ROWS * len(sessions))
        self.refresh()

    def mark_shown(self, session: str) -> None:
        self.shown = self._cursor = session
        self.unread.discard(session)
        self.refresh()

    # --- keys ----------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        if self.sessions:
            at = max(0, min(len(self.sessions) - 1, self._place() + step))
            self._cursor = self.sessions[at]["id"]
            self.scroll_to_row(at)
            self.refresh()

    def scroll_to_row(self, at: int) -> None:
        top, height = self.scroll_offset.y, self.size.height
        wanted = min(at * ROWS, max(top, (at + 1) * ROWS - height))
        self.scroll_to(y=wanted, animate=False, immediate=True)

    def _place(self) -> int:
        names = [block["id"] for block in self.sessions]
        return names.index(self._cursor) if self._cursor in names else 0

    def action_choose(self) -> None:
        if self.sessions:
            self.post_message(self.Chosen(self.sessions[self._place()]["id"]))

    def on_click(self, event: events.Click) -> None:
        at = (event.y + self.scroll_offset.y) // ROWS
        if 0 <= at < len(self.sessions):
            self.post_message(self.Chosen(self.sessions[at]["id"]))

    def neighbour(self, step: int) -> str | None:
        """The session after or before the shown one, cyclic."""
        names = [block["id"] for block in self.sessions]
        if not names:
            return None
        if self.shown not in names:
            return str(names[0 if step > 0 else -1])
        return str(names[(names.index(self.shown) + step) % len(names)])

    def on_focus(self) -> None:
        if self.sessions:  # show where the keys act
            self._cursor = self.sessions[self._place()]["id"]
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # --- painting ------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.rich_style
        at, row = divmod(y + self.scroll_offset.y, ROWS)
        if not self.sessions and y == 0:
            soft = look_of(self.app.theme).soft
            return Strip([Segment(cut(" no sessions yet", width), base + soft)])
        if at >= len(self.sessions) or row == ROWS - 1:
            return Strip.blank(width, base)
        line = self._line(self.sessions[at], row, width)
        return strip_of(line).crop_extend(0, width, base).apply_style(base)

    def _line(self, block: Block, row: int, width: int) -> Line:
        look = look_of(self.app.theme)
        here = block["id"] == self.shown
        cursor = self.has_focus and block["id"] == self._cursor
        bar = "▌" if cursor else "▎" if here else " "
        edge: Line = [(bar, look.accent if cursor else look.soft)]
        sign, style = look.states.get(block["status"], look.states["idle"])
        if row == 0:
            name = clean_line(block["title"])
            ink = look.heading if here or block["id"] in self.unread else look.ink
            line: Line = [*edge, (f"{sign} ", style), (name, ink)]
            dot: Line = [(" •", look.accent)] if block["id"] in self.unread else []
            return [*trimmed(line, width - 2 * len(dot)), *dot]
        words = [STATE_WORDS.get(block["status"], str(block["status"])), clean_line(block["agent"])]
        if block["queue"]:
            words.append(f"{block['queue']} queued")
        told: Line = [(words[0], style), (f" · {' · '.join(words[1:])}", look.soft)]
        return trimmed([*edge, ("  ", look.plain), *told], width)
