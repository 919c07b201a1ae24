"""The status line under the transcript: state, agent, usage, and the keys that matter now."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from rookery.core.header import Header
from rookery.render.runs import trimmed
from rookery.tui import widgets
from rookery.tui.look.palette import Look, look_of
from rookery.tui.look.runs import Line, strip_of
from rookery.tui.private import KeptLines
from rookery.tui.system.clock import FRAME, now

if TYPE_CHECKING:
    from rookery.tui.widgets.status_line import Doing, Place


OFTEN, SELDOM = 20, 5
"""Seconds."""


class LineWidget(KeptLines, Widget):
    """A widget whose lines are painted by a function of its width."""

    def lines(self, width: int) -> list[Line]:  # noqa: ARG002
        return []

    @property
    def look(self) -> Look:
        return look_of(self.app.theme)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self.lines(width)
        line = lines[y] if y < len(lines) else []
        return strip_of(trimmed(line, width)).crop_extend(0, width, base).apply_style(base)


class Status(LineWidget):
    """The status line, repainted whenever one of these fields changes."""

    header: reactive[Header | None] = reactive[Header | None](None)
    place: reactive["Place | None"] = reactive["Place | None"](None)
    keys: reactive[tuple[tuple[str, str], ...]] = reactive[tuple[tuple[str, str], ...]](())
    """Keys that matter now, each with a word."""
    doing: reactive["Doing | None"] = reactive["Doing | None"](None)
    hung = reactive("")
    """The session whose worker does not respond."""
    others = reactive(0)
    """Sessions that work in the same directory."""
    agent: reactive[str | None] = reactive[str | None](None)
    """Of the next session; None: it is not known yet, and nothing is said."""
    confirm = reactive("")
    work = reactive("")
    """What is being carried out besides, and how far it has come."""

    def __init__(self, clock: Callable[[], int] = now, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._works: dict[object, str] = {}
        self._turns: Timer | None = None
        self._counts: Timer | None = None
        self._counted = 0
        """Seconds that the shown session waited while it was shown."""

    def on_mount(self) -> None:
        self._turns = self.set_interval(FRAME / 1000, self.refresh, pause=True)
        self._counts = self.set_interval(1.0, self._count, pause=True)
        self.watch_header(self.header)

    def report(self, key: object, text: str) -> None:
        """Report the progress of an operation, identified by its key; "" means that it is over."""
        self._works.pop(key, None)
        if text:
            self._works[key] = text
        self.work = next(reversed(self._works.values()), "")

    def watch_work(self) -> None:
        self.watch_header(self.header)

    def watch_header(self, header: Header | None) -> None:
        """Run timers: the sign turns while a session works, and seconds are counted while it waits
        for the user."""
        if self._turns is None or self._counts is None:
            return
        waits = header is not None and widgets.status_line.waits(header)
        works = bool(self.work or (header and header.state != "idle" and not waits))
        self._counted = self._counted if waits else 0
        for timer, runs in ((self._turns, works), (self._counts, waits)):
            (timer.resume if runs else timer.pause)()

    def _count(self) -> None:
        """Repaint each second at first, then every five: a question may wait all night."""
        self._counted += 1
        if self._counted < OFTEN or self._counted % SELDOM == 0:
            self.refresh()

    def lines(self, width: int) -> list[Line]:
        header, look, at = self.header, self.look, self._clock()
        if header is None and self.agent is None:
            return []
        row = widgets.status_line
        place = self.place or row.Place()
        work = row.IDLE
        if self.work:
            work = row.Doing(f"{row.sign_at(at)} {self.work}", least=row.PROGRESS)
        if header is None:
            about = row.About(work=work, place=place, keys=self.keys)
            return [row.of_new(self.agent or "demo", self.confirm, about, look, width)]
        hung = self.hung != "" and self.hung == header.id
        about = row.About(self.doing or row.IDLE, place, self.keys, hung, self.others, work)
        return [row.line(header, about, look, at, width)]
