"""The transcript's cursor, which opens, copies and answers blocks.

Only keys pressed here act on a block: text typed elsewhere can never answer an ask."""

from collections import deque
from collections.abc import Callable
from typing import Any, override

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip

from rookery import render
from rookery.core.blocks import Block
from rookery.core.blocks.parts import kept_pictures
from rookery.core.json import Json
from rookery.render.runs import clean_line, count, cut
from rookery.tui import look
from rookery.tui.keys import bindings
from rookery.tui.look.runs import strip_of
from rookery.tui.private import keymap
from rookery.tui.record import Record, TasteChosen
from rookery.tui.system.clock import now
from rookery.tui.transcript.ask_keys import Answerable, AskKeys, is_open
from rookery.tui.transcript.finding import Finding
from rookery.tui.transcript.item import Item, offered
from rookery.tui.transcript.scroll import GUTTER
from rookery.tui.transcript.window import Window

STEP = 3
"""Lines per key inside a block taller than the view."""
STICKY = 8
"""Lines of a view that can spare one for the prompt."""


class Transcript(Answerable, Finding):
    FOCUS_ON_CLICK = False
    BINDINGS = bindings.TRANSCRIPT

    class Acted(Record):
        """An action of a block was chosen."""

        block: Block
        action: dict[str, Any]

    class Requested(Record):
        """Any other request about a block: copy, edit, show, view, open, reject, defer, fill,
        decline, all, risky."""

        what: str
        block: Block
        text: str

    def __init__(self, clock: Callable[[], int] = now, *, id: str | None = None) -> None:
        super().__init__(clock, id=id)
        self.cursor = ""
        """The name of the current item."""
        self.split = False
        self.asks = AskKeys(self)
        self._marked = False
        """Words are marked that were looked for in all sessions."""
        self._plan_beside = ""
        """The plan that the side panel shows: here it is one line."""

    def show(self, window: Window) -> None:
        self.cursor = ""
        self.asks.leave()
        super().show(window)

    def view_of(self, item: Item) -> "render.lines.view.View":
        asks, block = self.asks, item.block
        pressed = look.keyboard.Pressed(
            doubtful=asks.step_of(block),
            more=asks.more == block["id"],
            explains=asks.explains == block["id"],
            chosen=asks.chosen_of(block),
            focused=self.has_focus and self.cursor == item.name,
        )
        keyboard = look.keyboard.Keyboard(keymap(self.app), pressed)
        view = super().view_of(item)
        return view._replace(split=self.split, controls=keyboard, drawing=self._drawing)

    def _drawing(self) -> "render.lines.view.Drawing | None":
        pictures: render.lines.view.Drawing | None = getattr(self.app, "pictures", None)
        return pictures

    @override
    def is_open(self, item: Item) -> bool:
        if item.name == self._plan_beside and item.name not in self.window.opened:
            return False
        return super().is_open(item)

    def fold_plan(self, *, beside: bool) -> None:
        """Fold the newest list of steps if the side panel shows it (`beside`)."""
        plans = (block for block in self.window.blocks() if block["role"] == "plan")
        listed = (each["id"] for each in plans if any("items" in part for part in each["parts"]))
        newest = deque(listed, maxlen=1)
        plan_id = newest[0] if beside and newest else ""
        if plan_id == self._plan_beside:
            return
        for item in self.window.items():
            if item.name in (plan_id, self._plan_beside):
                item.forget()
        self._plan_beside = plan_id
        self.settle()

    def gutter_of(self, item: Item, number: int) -> Segment:
        if not self.has_focus or item.name != self.cursor or number < item.gap:
            return _EMPTY
        return Segment(" ▌".ljust(GUTTER), self.look.accent)

    @override
    def below(self, row: int) -> str:
        """Return a note about the lines of an ask that are not in sight: nobody is to answer it
        without one."""
        at = self._at(row) if self.has_focus else None
        if at is not None and self._items[at].name == self.cursor and is_open(self.current):
            rest = self._starts[at + 1] - row - 1
            if rest > 0:
                return f"{count(rest, 'more line')} of this ask"
        return super().below(row)

    # --- the prompt, which stays on the first line while its answer scrolls --------------------

    def prompt_above(self) -> Item | None:
        """Return the prompt of what is at the top of the view; None if in sight or not loaded."""
        top = round(self.scroll_y)
        at = self._at(top) if top > 0 and self.scrollable_content_region.height >= STICKY else None
        while at is not None and at >= 0:
            item = self._items[at]
            if item.block["role"] == "prompt":
                return item if self._starts[at + 1] <= top else None
            at -= 1
        return None

    @override
    def _overlay(self, y: int, row: int, line: Strip) -> Strip:
        item = self.prompt_above() if y == 0 else None
        return super()._overlay(y, row, line) if item is None else self._sticky(item)

    def _sticky(self, item: Item) -> Strip:
        look, width = self.look, self.scrollable_content_region.width
        ground = self.base + Style(bgcolor=look.palette.chosen)
        text = cut(clean_line(item.block["text"], 500), max(1, width - GUTTER - 4))
        runs = [(" " * GUTTER, ground), ("▎ ", ground + look.accent), (text, ground + look.soft)]
        line = strip_of(runs).extend_cell_length(width, ground)
        return line.extend_cell_length(self.size.width, self.base)

    # --- the cursor ----------------------------------------------------------------------------

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        if has_focus:
            self._find_cursor()
        else:
            self.asks.leave()
            if self._marked:
                self._marked = False
                self.mark("")
        self._repaint(self.cursor)

    def _find_cursor(self) -> None:
        """Put the cursor on the first open ask, else leave it where it was, else on the last
        visible item."""
        asks = self.window.open_asks()
        if asks and self.window.block(self.cursor.rstrip("*")) not in asks:
            self.go_to(asks[0]["id"])
        elif self._here() is None and self._items:
            self.cursor = self._visible()[-1].name if self._visible() else self._items[-1].name

    def go_to(self, name: str, *, begin: bool = False) -> None:
        """Move the cursor to a block and scroll it into view; `begin`: its beginning."""
        before, self.cursor = self.cursor, name
        if before != name:
            self.asks.leave()
        self._repaint(before)
        self._repaint(name)
        self._reveal(begin=begin)
        self.refresh_bindings()

    def show_place(self, block: str, query: str) -> bool:
        """Go to a block, and to a text in it, which is marked until the focus leaves. Return
        whether the block is loaded."""
        if (item := self.item_of(block)) is None:
            return False
        self.following = False
        self.go_to(item.name, begin=True)
        if query:
            self._marked = True
            self.mark(query)
            self.reveal_match(item.name)
        return True

    def action_move(self, step: int) -> None:
        here = self._here()
        if here is None:
            if self._items:
                self.go_to(self._items[-1].name)
            return
        if self._scrolled_inside(here, step):
            return
        at = here + step
        while 0 <= at < len(self._items) and self._items[at].name == self.cursor:
            at += step
        if 0 <= at < len(self._items):
            self.go_to(self._items[at].name)
        elif step > 0:
            self.to_end()
        else:
            self.to_start()

    def _scrolled_inside(self, here: int, step: int) -> bool:
        """Scroll through a block taller than the view before leaving it."""
        first, last = self._extent(here)
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if step > 0 and last > top + height:
            self.scroll_to(y=min(top + STEP, last - height), animate=False, immediate=True)
            return True
        if step < 0 and first < top:
            self.scroll_to(y=max(top - STEP, first), animate=False, immediate=True)
            return True
        return False

    def _extent(self, at: int) -> tuple[int, int]:
        name = self._items[at].name
        first = last = at
        while first > 0 and self._items[first - 1].name == name:
            first -= 1
        while last + 1 < len(self._items) and self._items[last + 1].name == name:
            last += 1
        return self._starts[first], self._starts[last + 1]

    def _here(self) -> int | None:
        places = (at for at, item in enumerate(self._items) if item.name == self.cursor)
        return next(places, None)

    def _visible(self) -> list[Item]:
        top = self.scroll_offset.y
        bottom = top + self.scrollable_content_region.height
        pairs = zip(self._items, self._starts, strict=False)
        return [item for item, start in pairs if top <= start < bottom]

    def _reveal(self, *, begin: bool = False) -> None:
        self.settle()
        for _ in range(3):
            here = self._here()
            if here is None:
                return
            first, last = self._extent(here)
            covered = self._items[here].block["role"] != "prompt" and not self._items[here].gap
            first = max(0, first - covered)  # by the prompt, which stays at the top
            top, height = self.scroll_offset.y, self.scrollable_content_region.height
            if last - first > height:
                wanted = first if begin or top < first or top > last - height else top
            else:
                wanted = min(first, max(top, last - height))
            if wanted == top:
                return
            self.scroll_to(y=wanted, animate=False, immediate=True)

    def repaint_cursor(self) -> None:
        self._repaint(self.cursor)
        self.refresh_bindings()

    def _repaint(self, name: str) -> None:
        for item in self._items:
            if item.name == name and item.block["role"] in ("ask", "notice", "error"):
                item.forget()
        self.settle()

    # --- what the keys do ----------------------------------------------------------------------

    def action_unfold(self) -> None:
        here = self._here()
        if here is not None:
            self._toggle(self._items[here])

    def _toggle(self, item: Item) -> None:
        if item.block["role"] == "ask" and item.block["status"] == "asked":
            self.action_want("open")
        elif item.members or render.lines.block.can_open(item.block, item.terminals):
            self.following = self.following and item is self._items[-1]
            self.window.toggle(item.name, to=not self.is_open(item))
            self.settle()
            self._reveal()

    def action_split(self) -> None:
        self.split = not self.split
        self.window.forget_lines()
        self.settle()
        self.post_message(TasteChosen({"diff": "split" if self.split else "unified"}))

    def action_want(self, what: str) -> None:
        here = self._here()
        if here is not None:
            item = self._items[here]
            text_of = render.lines.block.text_of
            text = text_of(item.block, item.terminals)
            if item.members:
                text = "\n".join(text_of(member, []) for member in item.members)
            self.post_message(self.Requested(what, item.block, text))

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that do not apply: a digit on a block without options is for others, and
        so are an answer without an ask and a look without a picture. On an ask only its own keys
        act."""
        if action == "press" and not offered(self.current):
            return False
        if parameters == ("view",) and not kept_pictures((self.current or {}).get("parts", ())):
            return False
        if action in ("answer", "confirm", "want", "split", "unfold"):
            return self.asks.allows(action, parameters)
        return super().check_action(action, parameters)

    def action_press(self, place: int) -> None:
        block = self.current
        if block is None or place >= len(offered(block)):
            return
        action = block["actions"][place]
        if action.get("disabled"):
            self.notify(str(action["disabled"]), severity="warning")
            return
        if self.asks.needs_second(block, place):
            self.asks.step = (block["id"], place)
            self._repaint(self.cursor)
            return
        self._act(block, action)

    def _act(self, block: Block, action: Json) -> None:
        """Post an action to the app at once: on the way through the widgets above, a paint would
        come first."""
        self.app.post_message(self.Acted(block, action))

    def action_answer(self, what: str) -> None:
        self.asks.do(f"ask.{what}")

    def action_confirm(self) -> None:
        """Take the second key for an action that cannot be undone."""
        alike = look.keyboard.ALL_ALIKE
        block, place = self.current, self.asks.step_of(self.current) if self.current else None
        self.asks.step = None
        if block is not None and place in alike:
            self.action_want(f"{alike[place]} alike")
        elif block is not None and place is not None and place < len(block["actions"]):
            self._act(block, block["actions"][place])
        self._repaint(self.cursor)

    def action_first(self) -> None:
        self.to_start()

    def action_last(self) -> None:
        self.to_end()

    @property
    def current(self) -> Block | None:
        return self.window.block(self.cursor.rstrip("*"))

    def on_key(self, event: events.Key) -> None:
        if self.asks.took(event):
            event.stop()
            event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        prompt = self.prompt_above() if event.y == 0 else None
        item = prompt or self.item_at(event.y)
        if item is None:
            return
        if prompt:
            self.go_to(prompt.name, begin=True)
            return
        if event.y == self.scrollable_content_region.height - 1 and self.news:
            self.to_end()
            return
        self.go_to(item.name)
        meta = {} if self.asks.guard.is_early(event.time) else event.style.meta
        if isinstance(meta.get("act"), int):
            self._focus_ask(item)
            self.action_press(meta["act"])
        elif isinstance(meta.get("choose"), str):
            self._focus_ask(item)
            self.asks.do(meta["choose"])
        elif isinstance(meta.get("link"), str):
            self.post_message(self.Requested("follow", item.block, meta["link"]))
        elif isinstance(meta.get("want"), str):
            self.action_want(meta["want"])
        elif event.chain == 1 and item.block["role"] not in ("answer", "prompt", "ask"):
            self._toggle(item)
        else:
            self._focus_ask(item)

    def _focus_ask(self, item: Item) -> None:
        """Focus an ask that was clicked: a second key may follow."""
        if is_open(item.block) and self.screen.focused is not self:
            self.post_message(self.Requested("focus", item.block, ""))


_EMPTY = Segment(" " * GUTTER)
