"""The session list at the left, with those that need the user first. A session has a line with its
state, title and age, and below it one with its agent and directory."""

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, override

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rookery.core.blocks import Block
from rookery.core.json import lenient
from rookery.core.settings.sandbox import NONE
from rookery.core.view import states
from rookery.core.view.states import NEEDS_YOU
from rookery.home.paths import with_tilde
from rookery.render import signs
from rookery.render.local_time import age
from rookery.render.runs import clean_line, cut, trimmed, width_of, width_of_line
from rookery.tui.keys import bindings
from rookery.tui.keys.map import keys_of
from rookery.tui.look.palette import Look, look_of
from rookery.tui.look.runs import Line, strip_of
from rookery.tui.private import KeptLines
from rookery.tui.record import Record, TasteChosen
from rookery.tui.system.clock import now

WIDTHS = ((180, 44), (140, 36), (0, 30))
"""Columns of the list, by those of the screen."""

AGES = 5.0
"""Seconds between two looks at the ages in sight: they are painted where one has changed."""


class Heading(NamedTuple):
    name: str = ""
    rest: str = ""


type Row = tuple[Block, int] | Heading
"""A session and which of its lines, or a line that belongs to none."""


def width_for(columns: int) -> int:
    return next(wide for least, wide in WIDTHS if columns >= least)


class Fleet(KeptLines, ScrollView):
    can_focus = True
    BINDINGS = bindings.FLEET

    class Chosen(Record):
        session: str

    class Requested(Record):
        """The user pressed a key for the session under the cursor: rename, archive, stop or
        delete."""

        what: str
        block: Block

    def __init__(self, clock: Callable[[], int] = now, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.sessions: list[Block] = []
        self.listed: list[Block] = []
        """Those that the filter leaves."""
        self.shown = ""
        """The session that the transcript shows."""
        self.unread: set[str] = set()
        self.compact = False
        self.filter: str | None = None
        """The words that are typed; None: nothing is."""
        self._cursor = ""
        self._rows: list[Row] = []
        self._ages: list[str] = []
        """Those in sight when they were looked at last."""
        self._base = Style.null()
        self._empty = Strip([])
        """A line without a session."""

    def on_mount(self) -> None:
        self.set_interval(AGES, self._keep_ages)

    def _keep_ages(self) -> None:
        if self._ages != (ages := self._ages_in_sight()):
            self._ages = ages
            self.refresh()

    def _ages_in_sight(self) -> list[str]:
        top, clock = self.scroll_offset.y, self._clock()
        rows = self._rows[top : top + self.size.height]
        return [age(row[0]["began"], clock) for row in rows if not isinstance(row, Heading)]

    def list_sessions(self, sessions: list[Block]) -> None:
        self.unread = {block["id"] for block in sessions if block["unread"]} - {self.shown}
        self.sessions = sessions
        self._lay_out()

    def _lay_out(self) -> None:
        query = self.filter or ""
        self.listed = [each for each in self.sessions if _matches(each, query)]
        if self.has_focus:
            self.on_focus()
        self._rows = self._laid_out()
        self.virtual_size = Size(self.size.width, len(self._rows))
        self.refresh()

    def _laid_out(self) -> list[Row]:
        """Lay out the sessions by what they need, each in two lines, or in one."""
        rows: list[Row] = [Heading(), Heading()] if self.filter is not None else []
        if not self.listed:
            none = "No matches" if self.sessions else "No sessions yet"
            rows.append(Heading("", none))
        for name, group in groupby(self.listed, itemgetter("group")):
            blocks = list(group)
            rows.append(Heading(name, f" {len(blocks)}"))
            lines = 1 if self.compact else 2
            rows += [(block, line) for block in blocks for line in range(lines)]
            rows.append(Heading())
        return rows

    def mark_shown(self, session: str) -> None:
        self.shown = self._cursor = session
        self.unread.discard(session)
        self.refresh()

    # --- keys ----------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        if self.listed:
            at = max(0, min(len(self.listed) - 1, self._place() + step))
            self._cursor = self.listed[at]["id"]
            self.scroll_to_row(at)
            self.refresh()

    def scroll_to_row(self, at: int) -> None:
        """Scroll so that a session is entirely visible; for the first one, also what is
        above it."""
        name = self.listed[at]["id"] if at < len(self.listed) else ""
        lines = [y for y, row in enumerate(self._rows) if _session(row) == name]
        top, height = self.scroll_offset.y, self.size.height
        first, last = (lines[0], lines[-1] + 1) if at and lines else (0, 0)
        wanted = min(first, max(top, last - height))
        self.scroll_to(y=wanted, animate=False, immediate=True)

    def _place(self) -> int:
        names = [block["id"] for block in self.listed]
        return names.index(self._cursor) if self._cursor in names else 0

    def action_choose(self) -> None:
        if self.listed:
            self._choose(self.listed[self._place()]["id"])

    def _choose(self, session: str) -> None:
        self._set_filter(None)
        self.post_message(self.Chosen(session))

    def action_want(self, what: str) -> None:
        if self.listed:
            self.post_message(self.Requested(what, self.listed[self._place()]))

    def action_compact(self) -> None:
        self.set_compact(not self.compact)
        self.post_message(TasteChosen({"compact_list": self.compact}))

    def set_compact(self, compact: bool) -> None:
        self.compact = compact
        self._lay_out()
        self.scroll_to_row(self._place())

    def action_filter(self) -> None:
        self._set_filter(self.filter or "")

    def _set_filter(self, query: str | None) -> None:
        if query != self.filter:
            self.filter = query
            self._lay_out()
            self.scroll_to_row(self._place() if self.listed else 0)

    def on_key(self, event: events.Key) -> None:
        """Give every letter to the filter while it is being typed, even those that come right after
        its key, before a binding would have opened it."""
        query = self.filter
        if query is None and event.key not in keys_of(self.app, "fleet.filter").split(","):
            return
        if query is None:
            self.action_filter()
        elif event.key == "escape":
            self._set_filter(None)
        elif event.key == "enter":
            self.action_choose()
        elif event.key == "backspace":
            self._set_filter(query[:-1] if query else None)
        elif event.is_printable and event.character:
            self._set_filter(query + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self.filter is not None:
            self._set_filter(self.filter + clean_line(event.text, 200))
            event.stop()

    def on_click(self, event: events.Click) -> None:
        y = event.y + self.scroll_offset.y
        if session := _session(self._rows[y]) if y < len(self._rows) else "":
            self._choose(session)

    def neighbour(self, step: int) -> str | None:
        """Return the session after or before the shown one, cyclically."""
        names = [block["id"] for block in self.sessions]
        if not names:
            return None
        if self.shown not in names:
            return str(names[0 if step > 0 else -1])
        return str(names[(names.index(self.shown) + step) % len(names)])

    def on_focus(self) -> None:
        if self.listed:  # show where the keys act
            self._cursor = self.listed[self._place()]["id"]
        self.refresh()

    def on_blur(self) -> None:
        self._set_filter(None)
        self.refresh()

    # --- painting ------------------------------------------------------------------------------

    @override
    def made_lines(self, crop: Region) -> list[Strip]:
        """Render the lines with a cached style: looking it up takes longer than painting a line,
        and most lines are empty."""
        self._base = self.rich_style
        self._empty = self._strip(len(self._rows))
        return super().made_lines(crop)

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        return self._strip(row) if row < len(self._rows) else self._empty

    def _strip(self, row: int) -> Strip:
        width, base = self.scrollable_content_region.width, self._base
        return strip_of(self._line(row, width)).crop_extend(0, width, base).apply_style(base)

    def _line(self, y: int, width: int) -> Line:
        look = look_of(self.app.theme)
        if self.filter is not None and y == 0:
            return [(" / ", look.key), (cut(self.filter, width - 4), look.ink), ("▏", look.accent)]
        row = self._rows[y] if y < len(self._rows) else Heading()
        if not isinstance(row, Heading):
            return self._of_session(*row, width)
        style = look.bold + (look.needs if row.name == NEEDS_YOU else look.soft)
        return trimmed([(f" {row.name}", style), (row.rest, look.soft)], width)

    def _of_session(self, block: Block, row: int, width: int) -> Line:
        look = look_of(self.app.theme)
        here, unread = block["id"] == self.shown, block["id"] in self.unread
        cursor = self.has_focus and block["id"] == self._cursor
        edge = ("▌" if cursor else "▎" if here else " ", look.accent if cursor else look.soft)
        if row:
            return [edge, *_details(block, look, width - 1, self._clock())]
        clock, strong = self._clock(), here or unread
        line = _title(block, look, width - 1, clock, strong=strong, unread=unread)
        return trimmed([edge, *line], width)


def _session(row: Row) -> str:
    return "" if isinstance(row, Heading) else str(row[0]["id"])


# --- a row -------------------------------------------------------------------------------------


def _title(block: Block, look: Look, width: int, now: int, *, strong: bool, unread: bool) -> Line:
    """Render the first line of a session; in the one-line list, its only one."""
    sign, style = look.states.get(block["condition"], look.states["idle"])
    name = clean_line(block["title"])
    end: Line = [(f" {age(block['began'], now)} ", look.faint)]
    if unread:
        end.append(("•", look.accent))
    room = width - width_of_line(end)
    line = trimmed([(f"{sign} ", style), (name, look.heading if strong else look.ink)], room)
    gap = max(0, room - width_of_line(line))
    return [*line, (" " * gap, look.plain), *end]


def _state(block: Block, now: int) -> str:
    """Return the session's state, unless the heading above gives it; for a failure, also the
    reason."""
    label = signs.label(block, now)
    if label == block["group"].lower():
        return ""
    why = clean_line(lenient.text(block, "doing")) if block["condition"] == "failed" else ""
    return f"{label}: {why}" if why else label


def _details(block: Block, look: Look, width: int, now: int) -> Line:
    """Render the agent, the directory, the plan's progress and the queue; also the state, unless a
    heading gives it."""
    sign_style = look.states.get(block["condition"], look.states["idle"])[1]
    state = _state(block, now)
    facts = [clean_line(block["agentName"] or block["agent"])]
    if (kind := lenient.text(block, "sandbox")) not in ("", NONE):
        facts.append(f"in {kind}")
    if branch := clean_line(lenient.text(block, "branch")):
        facts.append(branch)
    if block["queue"] and block["condition"] != "held":
        facts.append(f"{block['queue']} queued")
    done, steps = [*lenient.sequence(block, "plan"), 0, 0][:2]
    if steps:
        facts.append(f"plan {done}/{steps}")
    line: Line = [("  ", look.plain), (f"{state} · " if state else "", sign_style)]
    line.append((" · ".join(facts), look.soft))
    cwd = with_tilde(clean_line(str(block["cwd"])))
    room = width - width_of_line(line) - 4
    if cwd and room >= min(8, width_of(cwd)):
        line.append((f" · {_end_of(cwd, room)}", look.soft))
    return trimmed(line, width)


def _end_of(path: str, room: int) -> str:
    """Shorten a path from the left, since its end says more than its beginning; whole directories
    of it are kept if they fit."""
    if width_of(path) <= room:
        return path
    kept = path
    while width_of(kept) > room - 1 and "/" in kept[1:]:
        kept = kept[kept.index("/", 1) :]
    while width_of(kept) > room - 1:
        kept = kept[1:]
    return f"…{kept}"


def _matches(block: Block, query: str) -> bool:
    """Tell whether a session matches all words of a filter."""
    keys = ("id", "title", "agent", "agentName", "cwd", "status", "group")
    about = " ".join(str(block[key]) for key in keys)
    about = f"{about} {states.label_of(block['condition'])}".casefold()
    return all(word in about for word in query.casefold().split())
