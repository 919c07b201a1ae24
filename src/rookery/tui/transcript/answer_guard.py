"""Decides whether a key on an ask answers it, or begins a text that somebody writes.

An answer is one key, alone: nothing was typed just before it, and nothing follows within a moment.
In the first second after an ask took the focus by itself, when the user may look elsewhere and go
on typing, no key answers; then only after a longer pause, the longer the slower the user types.
After that the pause is short: nobody has typed for two seconds. Letters that are no answer go to
the composer."""

from typing import NamedTuple

FIRST = 0.7
"""Seconds for which an ask that came by itself takes no key."""
PAUSE = 0.22
"""Seconds around an answer in which nothing else is typed."""
FRESH, FRESH_PAUSE = 0.3, 0.6
"""Seconds after the first ones, and the pause then."""
MAX_PAUSE = 1.2
"""The longest pause for users who type slowly."""
RECENT = 3.0
"""Seconds for which a letter that did nothing may belong to the next one."""
_SLOWEST, _WEIGHT = 1.5, 0.25
"""Seconds between two letters of one text, and the weight of the newest ones in their average."""


class Outcome(NamedTuple):
    act: bool = False
    """It answers now."""
    wait: float = 0.0
    """It answers after so many seconds, unless something follows."""
    text: str = ""
    """What is written instead."""


class AnswerGuard:
    def __init__(self, first: float = FIRST, pause: float = PAUSE) -> None:
        self.first, self.pause = first, pause
        self._until = self._fresh = 0.0
        self._held = ""
        """A letter that did nothing yet."""
        self._at = 0.0
        self._waits = 0.0
        self._typed, self._rhythm = 0.0, 0.0

    def begin(self, at: float, *, by_itself: bool) -> None:
        """Guard an ask that has the focus from now on."""
        self.forget()
        self._until = self._fresh = 0.0
        if by_itself:
            self.seen(at)

    def seen(self, at: float) -> None:
        """Note that the ask that took the focus by itself is painted now."""
        self._until = at + self.first
        self._fresh = self._until + FRESH

    def forget(self) -> None:
        self._held, self._waits = "", 0.0

    def is_early(self, at: float) -> bool:
        return at < self._until

    @property
    def waits(self) -> bool:
        """Whether an answer is about to take effect."""
        return self._waits > 0

    def typed(self, at: float) -> None:
        """Note a letter typed elsewhere, which shows how fast this user types."""
        since, self._typed = at - self._typed, at
        if since < _SLOWEST:
            self._rhythm += _WEIGHT * (since - self._rhythm)

    def press(self, letter: str, at: float, *, is_answer: bool) -> Outcome:
        if self._held and self._is_typing(letter, at):
            text = self._held + letter
            self.forget()
            return Outcome(text=text)
        self._held, self._at, self._waits = letter, at, 0.0
        if self.is_early(at):
            return Outcome()
        if not is_answer:
            self.forget()
            return Outcome(text=letter)
        if self.pause <= 0:
            self.forget()
            return Outcome(act=True)
        self._waits = self._pause(at)
        return Outcome(wait=self._waits)

    def _pause(self, at: float) -> float:
        if at >= self._fresh:
            return self.pause
        return min(MAX_PAUSE, max(FRESH_PAUSE, 2 * self._rhythm))

    def _is_typing(self, letter: str, at: float) -> bool:
        since = at - self._at
        again = letter == self._held  # pressed once more, since nothing happened
        return self.waits or since < self.pause or (since < RECENT and not again)

    def settle(self, at: float | None = None) -> bool:
        """Return whether the answer given at that time takes effect, since nothing followed;
        without a time: any answer."""
        stands = self.waits and at in (None, self._at)
        if stands:
            self.forget()
        return stands
