"""The keys of the ask under the cursor. Only those that its card lists act; any other letter is
written into the composer."""

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual import events

from rookery import render
from rookery.core import blocks
from rookery.core.blocks import Block
from rookery.tui.keys.map import keys_of
from rookery.tui.transcript.answer_guard import AnswerGuard
from rookery.tui.transcript.scroll import Scroll

if TYPE_CHECKING:
    from rookery.render.ask_choices import Choice

BACK = "back"
CONFIRM = "ask.confirm"
MORE = "ask.more"
EXPLAIN = "ask.explain"
ALIKE = {"ask.alike": -1, "ask.alike_deny": -2}
"""The keys for all asks that are alike: which of `ALL_ALIKE` then waits for its confirmation."""
_WANTS = ("amend", "reject", "defer", "fill", "decline", "all", "risky", "qr")


def is_open(block: Block | None) -> bool:
    return block is not None and block["role"] == "ask" and block["status"] == "asked"


class Answerable(Scroll):
    """The transcript's interface for the keys of an ask."""

    @property
    def current(self) -> Block | None:
        """The block under the cursor."""
        raise NotImplementedError

    def repaint_cursor(self) -> None:
        raise NotImplementedError

    def action_confirm(self) -> None:
        raise NotImplementedError

    def action_split(self) -> None:
        raise NotImplementedError

    def action_want(self, what: str) -> None:
        raise NotImplementedError

    def action_press(self, place: int) -> None:
        raise NotImplementedError


class AskKeys:
    def __init__(self, transcript: Answerable) -> None:
        self._transcript = transcript
        self.guard = AnswerGuard()
        self.write: Callable[[str], None] = lambda _text: None
        """Writes into the composer, and takes the focus there."""
        self.more = ""
        """The ask that shows every way to answer it."""
        self.explains = ""
        """The ask that shows what it would do."""
        self.step: tuple[str, int] | None = None
        """The ask and the action that wait for their second key."""
        self._chosen = ""
        """The key that answers in a moment."""
        self._alone = False
        """The ask took the focus by itself."""

    def begin(self, *, by_itself: bool, new: bool = False) -> None:
        """Take the keys of the ask under the cursor. `new`: it has just come."""
        self._alone, self._chosen = by_itself, ""
        self.guard.begin(time.monotonic(), by_itself=by_itself or new)
        if by_itself or new:
            self._transcript.call_after_refresh(lambda: self.guard.seen(time.monotonic()))

    def begin_again(self) -> None:
        """Start over when the user comes back to this terminal, and may not have seen what has the
        focus."""
        if is_open(self._transcript.current):
            self.begin(by_itself=True)

    def leave(self) -> None:
        self.step, self.more, self.explains, self._chosen = None, "", "", ""
        self.guard.forget()

    def chosen_of(self, block: Block) -> str:
        """Return the key that answers this ask in a moment; "" if none does."""
        return self._chosen if self._transcript.current is block else ""

    def step_of(self, block: Block) -> int | None:
        return self.step[1] if self.step is not None and self.step[0] == block["id"] else None

    # --- which key is meant --------------------------------------------------------------------

    def took(self, event: events.Key) -> bool:
        """Handle a key; return whether nobody else gets it."""
        block = self._transcript.current
        letter = (event.character or "") if event.is_printable else ""
        if self._transcript.screen.focused is not self._transcript:
            if letter:  # pressed before the focus went to the composer
                self.write(letter)
            return bool(letter)
        if block is None or not is_open(block):
            return False
        meant = self._meant(event.key, block)
        if letter:
            self._pressed(letter, event.time, meant)
            return True
        self._drop()
        if self.guard.is_early(event.time):
            return bool(meant) or (self._alone and event.key == "enter")
        if meant:
            self.do(meant)
        return bool(meant)

    def _meant(self, key: str, block: Block) -> str:
        """Return the name of a key, if the card lists it, else ""."""
        if self.step_of(block) is not None:
            return CONFIRM if self._is(key, CONFIRM) else BACK
        if self.more and key == "escape":
            return MORE
        return next((name for name in self.listed(block) if self._is(key, name)), "")

    def is_answer(self, letter: str, block: Block) -> bool:
        """Tell whether a letter would answer an ask if that had the focus."""
        return len(letter) == 1 and any(self._is(letter, name) for name in self.listed(block))

    def listed(self, block: Block) -> list[str]:
        """Return the names of the keys that the card lists. Digits always are, as the agent's own
        list."""
        seen, more = render.ask_choices.choices(block)
        names = [each.name for each in seen]
        if not more:
            return names
        if self.more == block["id"]:
            split = ["block.split"] if blocks.asks.shows_diff(block) else []
            return [*names, MORE, *(each.name for each in more), "block.copy", *split]
        return [*names, MORE, *(each.name for each in more if self._works_unseen(each))]

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Tell whether an action is available here; the last line lists those that are."""
        block = self._transcript.current
        what = str(parameters[0]) if parameters else ""
        if block is None or not is_open(block):
            return action in ("split", "unfold") or (action == "want" and what not in _WANTS)
        if self.step_of(block) is not None:
            return action == "confirm"
        if action == "unfold":
            return True
        name = f"block.{what or action}" if what in ("", "copy", "edit", "show") else f"ask.{what}"
        return name in self.listed(block)

    def _works_unseen(self, choice: "Choice") -> bool:
        """Tell whether a choice works without being listed: digits do, and keys of the user's own
        that are no letters."""
        keys = keys_of(self._transcript.app, choice.name).split(",")
        return choice.place is not None or all(len(key) > 1 for key in keys)

    def _is(self, key: str, name: str) -> bool:
        return key in keys_of(self._transcript.app, name).split(",")

    def _pressed(self, letter: str, at: float, meant: str) -> None:
        if meant == BACK:
            self.guard.forget()
            self.do(BACK)
            return
        outcome = self.guard.press(letter, at, is_answer=bool(meant))
        if outcome.text:
            self.write(outcome.text)
        elif outcome.act:
            self.do(meant)
        elif outcome.wait:
            self._choose(meant)
            left = max(0.0, at + outcome.wait - time.monotonic())  # a busy screen took it late
            self._transcript.set_timer(left, partial(self._due, letter, at, meant))

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._transcript.repaint_cursor()

    def _drop(self) -> None:
        """Drop the choice: a key was pressed that is no letter."""
        if self.guard.waits:
            self.guard.forget()
            self._choose("")

    def settle(self) -> None:
        """Confirm the choice: a key was pressed that is not part of a text."""
        if self.guard.settle():
            self.do(self._chosen)

    def _due(self, letter: str, at: float, meant: str) -> None:
        """Settle the answer after every key pressed until now: they wait in these two queues."""
        transcript = self._transcript
        settle = partial(self._settle, letter, at, meant)
        transcript.app.call_later(lambda: transcript.call_later(settle))

    def _settle(self, letter: str, at: float, meant: str) -> None:
        if not self.guard.settle(at):
            return
        here = self._transcript.screen.focused is self._transcript
        if here and is_open(self._transcript.current):
            self.do(meant)
        elif not here:  # the ask is gone, and the composer has the focus
            self.write(letter)

    # --- what it does --------------------------------------------------------------------------

    def do(self, name: str) -> None:
        transcript, block = self._transcript, self._transcript.current
        self._chosen = ""
        if block is None:
            return
        if name == CONFIRM:
            transcript.action_confirm()
        elif name == BACK:
            self.step = None
        elif name == MORE:
            self.more = "" if self.more == block["id"] else block["id"]
        elif name == EXPLAIN:
            self.explains = "" if self.explains == block["id"] else block["id"]
        elif name in ALIKE:
            self.step = (block["id"], ALIKE[name])
        elif name == "block.split":
            transcript.action_split()
        elif (what := name.partition(".")[2]) in _WANTS or name == "block.copy":
            transcript.action_want(what)
        else:
            seen, more = render.ask_choices.choices(block)
            place = next((each.place for each in (*seen, *more) if each.name == name), None)
            if place is not None:
                transcript.action_press(place)
        transcript.repaint_cursor()

    def needs_second(self, block: Block, place: int) -> bool:
        """Tell whether an action needs a second key: it cannot be undone, or allows something for
        good that is not in sight."""
        action = block["actions"][place]
        always = block["role"] == "ask" and render.ask_choices.asks_twice(block, action)
        return bool(action.get("danger")) or (always and self.more != block["id"])
