"""The panel at the right of a wide screen: the plan, the changed files, and the diffs of one
file."""

from typing import NamedTuple

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rookery.core.blocks import Block, Op, captions
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.render.diff import Part, changed
from rookery.render.lines import diff, part
from rookery.render.lines.view import View
from rookery.render.runs import Line, clean_line, prefixed, trimmed, width_of_line
from rookery.tui.keys import bindings
from rookery.tui.look.palette import look_of
from rookery.tui.look.runs import painted, strip_of
from rookery.tui.private import KeptLines
from rookery.tui.record import Record
from rookery.tui.transcript.window import Window

LEAST = 160
"""Columns of a screen that has room for it."""
WIDTHS = ((200, 58), (0, 44))
"""Columns of the panel, by those of the screen."""

STEPS = 12
"""Steps of a plan that are shown: those around the current one."""
FILES = 16
DIFFS = 6
"""Diffs of a file that are shown: the newest."""
LINES = 200
"""Lines of one diff."""

REJECTED = frozenset({"failed", "cancelled", "rejected", "interrupted"})
"""Calls that changed nothing."""


class Change(NamedTuple):
    """One diff of a call."""

    call: str
    path: str
    plus: int
    minus: int
    part: Part


class File(NamedTuple):
    path: str
    plus: int
    minus: int
    changes: list[Change]
    """The newest last."""


class ChangedFiles:
    """The changed files, folded from the loaded calls one by one: an update costs only as much as
    it brings."""

    def __init__(self) -> None:
        self._of: dict[str, list[Change]] = {}
        """By call."""

    def load(self, window: Window) -> None:
        """Take all loaded calls, after pages were loaded."""
        self._of = {}
        for block in window.blocks():
            self._take(block)

    def heed(self, window: Window, ops: list[Op]) -> bool:
        """Apply ops; return whether they changed anything."""
        moved = False
        for op in ops:
            if op[0] == "append":
                continue
            name = op[1]["id"] if op[0] == "put" else op[1]
            block = window.block(name)
            if block is not None and block["role"] == "tool":
                moved = self._take(block) or moved
        return moved

    def _take(self, block: Block) -> bool:
        before = self._of.get(block["id"])
        changes: list[Change] = []
        over = block["role"] == "tool" and captions.is_over(block)
        if over and captions.status_of(block) not in REJECTED:
            for part in captions.diffs(block):
                plus, minus = changed(part)
                path = lenient.text(part, "path")
                changes.append(Change(block["id"], path, plus, minus, part))
        if changes:
            self._of[block["id"]] = changes
        else:
            self._of.pop(block["id"], None)
        return bool(changes or before)

    def files(self) -> list[File]:
        """Return the files in the order in which they were first changed."""
        by_path: dict[str, list[Change]] = {}
        for changes in self._of.values():
            for each in changes:
                by_path.setdefault(each.path, []).append(each)
        return [
            File(path, sum(c.plus for c in changes), sum(c.minus for c in changes), changes)
            for path, changes in by_path.items()
        ]


class SidePanel(KeptLines, ScrollView):
    can_focus = True
    BINDINGS = bindings.PANEL

    class Chosen(Record):
        """A file was chosen: show the call that changed it last."""

        call: str

    class Fitted(Record):
        """The panel opened, closed, or shows something else."""

        has_plan: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._changes = ChangedFiles()
        self._files: list[File] = []
        self._plan: list[Json] = []
        self._cwd = ""
        self._file = ""
        """The path whose diffs are shown; empty: the last one that changed."""
        self._lines: list[Strip] = []
        self._painted: object = None
        """What the lines were made for."""
        self._rows: dict[int, str] = {}
        """Paths by their line."""
        self.closed = False
        """The user does not want it."""
        self.display = False

    # --- what it shows -------------------------------------------------------------------------

    def load(self, window: Window) -> None:
        """Show another session, or more pages of the same one."""
        self._changes.load(window)
        self._refresh(window, files=True)

    def heed(self, window: Window, ops: list[Op]) -> None:
        self._refresh(window, files=self._changes.heed(window, ops))

    def _refresh(self, window: Window, *, files: bool) -> None:
        plan = window.header.plan
        if not files and plan is self._plan:
            return
        self._plan, self._cwd = plan, str(window.header.cwd)
        if files:
            self._files = self._changes.files()
        self._painted = None
        self.fit()
        self.refresh()

    def fit(self, columns: int = 0) -> None:
        """Show the panel if there is room for it and something to show. `columns` is the screen's
        width."""
        columns = columns or self.app.size.width
        room = columns >= LEAST and not self.closed
        self.display = room and bool(self._plan or self._files)
        self.styles.width = next(wide for least, wide in WIDTHS if columns >= least)
        self.post_message(self.Fitted(bool(self.display and self._plan)))

    def toggle(self) -> bool:
        """Open or close the panel; return whether it is open now."""
        self.closed = not self.closed
        self.fit()
        return self.display

    # --- keys ----------------------------------------------------------------------------------

    @property
    def _current(self) -> File | None:
        named = [each for each in self._files if each.path == self._file]
        return named[0] if named else self._files[-1] if self._files else None

    def action_move(self, step: int) -> None:
        here = self._current
        if here is not None:
            at = max(0, min(len(self._files) - 1, self._files.index(here) + step))
            self._choose(self._files[at].path)

    def _choose(self, path: str) -> None:
        self._file, self._painted = path, None
        self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    def action_open(self) -> None:
        if self._current is not None:
            self.post_message(self.Chosen(self._current.changes[-1].call))

    def on_click(self, event: events.Click) -> None:
        if (path := self._rows.get(event.y + self.scroll_offset.y)) is not None:
            self._choose(path)

    def on_focus(self) -> None:
        self._painted = None
        self.refresh()

    def on_blur(self) -> None:
        self.on_focus()

    # --- painting ------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        if self._painted != (width, self.app.theme):
            self._painted = (width, self.app.theme)
            self._paint(width)
        at = y + self.scroll_offset.y
        line = self._lines[at] if at < len(self._lines) else Strip([])
        return line.crop_extend(0, width, base).apply_style(base)

    def _paint(self, width: int) -> None:
        look, inner = look_of(self.app.theme), max(8, width - 2)
        lines: list[Line] = []
        if self._plan:
            lines += [*_plan(self._plan, View(inner)), []]
        if self._files:
            lines += self._list(len(lines), inner)
        if (current := self._current) is not None:
            lines += _diffs(current, View(inner))
        lines = prefixed(lines, [(" ", "")])
        self._lines = [strip_of(painted(line, look)) for line in lines]
        high = max(1, len(self._lines))
        self.call_after_refresh(setattr, self, "virtual_size", Size(width, high))

    def _list(self, above: int, width: int) -> list[Line]:
        shown, current = self._files[-FILES:], self._current
        hidden = len(self._files) - len(shown)
        lines: list[Line] = [[("Changes ", "heading"), (count(len(self._files), "file"), "soft")]]
        self._rows = {}
        for each in shown:
            self._rows[above + len(lines)] = each.path
            lines.append(_file(each, self._cwd, width, here=each is current))
        if hidden:
            lines.append([(f"… {count(hidden, 'more file')}", "soft")])
        return [*lines, []]


def _plan(steps: list[Json], view: View) -> list[Line]:
    done = sum(step["status"] == "completed" for step in steps)
    now = next((at for at, step in enumerate(steps) if step["status"] == "in_progress"), done)
    first = max(0, min(now - STEPS // 2, len(steps) - STEPS))
    shown = steps[first : first + STEPS]
    head: Line = [("Plan ", "heading"), (f"{done} of {len(steps)}", "soft")]
    left = len(steps) - len(shown)
    more: list[Line] = [[(f"… {count(left, 'more step')}", "soft")]] if left else []
    return [head, *(line for step in shown for line in part.step(step, view)), *more]


def _file(file: File, cwd: str, width: int, *, here: bool) -> Line:
    path = captions.short_path(file.path, cwd, clean_line)
    counts: Line = [(f" +{file.plus}", "done")]
    if file.minus:
        counts.append((f" −{file.minus}", "failed"))
    room = width - 2 - width_of_line(counts)
    while len(path) > room > 4:
        path = f"…{path[len(path) - room + 2 :]}"
    name = trimmed([(path, "heading" if here else "ink")], max(1, room))
    gap = max(0, room - width_of_line(name))
    return [("▌ " if here else "  ", "accent"), *name, (" " * gap, ""), *counts]


def _diffs(file: File, view: View) -> list[Line]:
    lines: list[Line] = []
    for change in file.changes[-DIFFS:]:
        lines += diff.rendered(change.part, view, LINES)
        lines.append([])
    hidden = len(file.changes) - DIFFS
    if hidden > 0:
        lines.append([(f"… {count(hidden, 'earlier change')}", "soft")])
    return lines
