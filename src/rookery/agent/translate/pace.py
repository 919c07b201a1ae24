"""Throttles live output to a readable pace: what a command prints within a moment is one update."""

import asyncio
from collections.abc import Callable

FIRST = 0.05
SLOWER = 0.01
SLOWEST = 1.0


class Pace:
    """A throttle, fed from any thread; sends on the loop, ever less often."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        tell: Callable[[str, str], None],
        is_behind: Callable[[], bool] = lambda: False,
    ) -> None:
        self._loop = loop
        self._tell = tell
        self._is_behind = is_behind
        self._held: dict[str, list[str]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._sent: dict[str, int] = {}

    def feed(self, call: str, text: str) -> None:
        """Add output, from the terminal's thread."""
        try:
            self._loop.call_soon_threadsafe(self._take, call, text)
        except RuntimeError:
            return  # the loop is closed

    def _take(self, call: str, text: str) -> None:
        self._held.setdefault(call, []).append(text)
        if call not in self._timers:
            sent = self._sent.get(call, 0)
            delay = min(SLOWEST, FIRST + SLOWER * sent) if sent else 0.0
            self._timers[call] = self._loop.call_later(delay, self._tick, call)

    def _tick(self, call: str) -> None:
        if self._is_behind():  # more at once, later
            self._timers[call] = self._loop.call_later(SLOWEST, self._tick, call)
        else:
            self.flush(call)

    def flush(self, call: str) -> None:
        """Send the rest, on the loop, before the call's end is sent."""
        if timer := self._timers.pop(call, None):
            timer.cancel()
        if text := "".join(self._held.pop(call, [])):
            self._sent[call] = self._sent.get(call, 0) + 1
            self._tell(call, text)

    def ended(self, call: str) -> None:
        """Send the rest, on the loop, and forget the call."""
        self.flush(call)
        self._sent.pop(call, None)
