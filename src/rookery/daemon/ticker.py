"""When what happened is sent: at once after a while of quiet, else all that is due at the end of a
window, which is longer where the daemon is busy."""

import asyncio
from collections.abc import Callable

WINDOW, SLOWEST = 0.02, 0.1
"""Seconds in which what happens is gathered into one message."""
SHARE = 2
"""How many times as long as the last round took, and came late, the next window is at least."""
FEW = 4
"""Sessions of which the first news are sent at once."""


class Ticker:
    def __init__(self) -> None:
        self._due: dict[Callable[[], None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._window = WINDOW
        self._open_until = float("-inf")
        self._many = False

    def due(self, run: Callable[[], None]) -> None:
        """Call it at the end of the window; at once where none is open."""
        self._due[run] = None
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # Of many that talk at once, one that is early gains nothing and costs the others time.
            begin = loop.time() + self._window if self._many else max(loop.time(), self._open_until)
            self._timer = loop.call_at(begin, self._tick)

    def forget(self, run: Callable[[], None]) -> None:
        self._due.pop(run, None)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        began = self._timer.when() if self._timer is not None else loop.time()
        self._timer = None
        due, self._due = self._due, {}
        for run in due:
            run()
        now = loop.time()
        self._window = min(SLOWEST, max(WINDOW, SHARE * (now - began)))
        self._open_until, self._many = now + self._window, len(due) > FEW
