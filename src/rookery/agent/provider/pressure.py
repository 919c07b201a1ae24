"""Handles a conversation that is too long for its model, as the provider's refusals show: when to
condense it and send it again, and when that does not help."""

from collections.abc import Sequence
from typing import Any

from rookery.agent.provider import retries, windows
from rookery.agent.provider.failures import kind_of
from rookery.agent.provider.windows import SURELY, TooSmall

TRIES = 3
"""Times in a row that a conversation may be too long."""
NEARLY_FULL = 0.6
"""Share of the window above which any refusal of the request may mean that it is too long."""
WINDOW = 128_000
"""Tokens, of a model that is on no list."""


class Pressure:
    """How often in a row a conversation was too long, and how long it was."""

    def __init__(self) -> None:
        self._needed: list[int] = []
        self._condensed = 0
        self.window = 0
        """Tokens that the provider does not take more of; 0: it never refused any number."""
        self.guess: Exception | None = None
        """A refusal in words that are not known, after which it was condensed all the same."""

    def relieve(self) -> None:
        """Start over: the model has answered."""
        self._needed.clear()
        self._condensed = 0
        self.guess = None

    def condense(self, size: int | None) -> None:
        """Note that it was condensed before sending. Raises TooSmall after several times."""
        self._condensed += 1
        if self._condensed > TRIES:
            self.relieve()
            raise TooSmall(0, size or 0)

    def meet(
        self, error: Exception, messages: Sequence[Any], tools: Sequence[Any], window: int | None
    ) -> bool:
        """Handle a failed request. Returns whether to condense the conversation and to send it
        again. Raises TooSmall if that does not help."""
        needed = windows.needed_for(messages, tools)
        if not retries.is_too_long(error):
            nearly_full = needed > (window or WINDOW) * NEARLY_FULL
            if self.guess is not None or not nearly_full or kind_of(error) != "request":
                return False
            self.guess = error
            return True
        size = windows.size_in(error)
        stuck = bool(self._needed) and needed > 0.9 * self._needed[-1]
        self._needed.append(needed)
        fixed = size and windows.least_for(messages, tools) * SURELY > size
        if stuck or fixed or len(self._needed) > TRIES:
            self.relieve()
            raise TooSmall(needed, size) from error
        self.window = min(size or needed, self.window or needed)
        return True
