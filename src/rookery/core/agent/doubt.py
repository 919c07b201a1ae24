"""A prompt came back that is the running turn's and an earlier turn's, too: an echo, or a history
that begins late. What follows is held until it is certain which.

History it is by what only history has: a call of that turn that is announced as ended, where it was
not when it was new; a message's id of that turn, if it is no mere number; the next prompt of the
log, where that is another than the turn's own. Whatever else comes, and the turn's end, makes it
news: the agent's new words may be its old ones, its new ids too, and are kept.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from rookery.core.json import lenient
from rookery.core.json.events import Json, kind_of
from rookery.core.tools.calls import ENDED, key_of

UNIQUE = 16
"""Characters of an id that no agent gives twice: one that counts may begin anew."""


class Retold(Protocol):
    """What an agent said and did in a turn (`repeats.py`)."""

    def take(self, update: Json) -> bool: ...
    def has_message(self, name: str) -> bool: ...
    def began_open(self, key: str) -> bool: ...


type Verdict = Literal["held", "history", "news"]


class Doubt[Told: Retold]:
    def __init__(self, at: int, told_in: Callable[[int], Told], same: Sequence[int]) -> None:
        """`at`: the earlier turn that may be told again; `same`: all that have its prompt."""
        self.at = at
        self.held: list[Json] = []
        self._told_in = told_in
        self._same = same
        self.told = told_in(at)

    def prompt(self, at: int | None, *, own: bool) -> Verdict:
        """Another prompt came: the one of a later turn (`at`), or the running turn's (`own`)."""
        if at is None:
            return "held" if own else "news"
        self.at, self.told = at, self._told_in(at)
        return "held" if own or not self.held else "history"

    def hear(self, update: Json) -> Verdict:
        if self._is_taken(update):
            self.held.append(update)
            return "history" if self._is_known(update) else "held"
        return "news"

    def _is_taken(self, update: Json) -> bool:
        if self.told.take(update):
            return True
        for at in self._same:  # the same prompt, sent more than once
            if at > self.at and not self.held:
                told = self._told_in(at)
                if told.take(update):
                    self.at, self.told = at, told
                    return True
        return False

    def _is_known(self, update: Json) -> bool:
        if kind_of(update) == "tool_call":
            return lenient.text(update, "status") in ENDED and self.told.began_open(key_of(update))
        name = lenient.text(update, "messageId")
        return len(name) >= UNIQUE and self.told.has_message(name)
