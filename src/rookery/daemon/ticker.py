"""When what happened is sent: all that is due at once, and less often where the daemon is busy."""

import asyncio
from collections.abc import Callable

WINDOW, SLOWEST = 0.02, 0.1
"""Seconds in which what happens is gathered into one message."""
SHARE = 2
"""How many times as long as the last round took, and came late, the next window is at least."""


class Ticker:
    def __init__(self) -> None:
        self._due: dict[Callable[[], None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._window = WINDOW

    def due(self, run: Callable[[], None]) -> None:
        """Call it at the end of the window."""
        self._due[run] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._window, self._tick)

    def forget(self, run: Callable[[], None]) -> None:
        self._due.pop(run, None)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        began = self._timer.when() if self._timer is not None else loop.time()
        self._timer = None
        due, self._due = self._due, {}
        for run in due:
            run()
        self._window = min(SLOWEST, max(WINDOW, SHARE * (loop.time() - began)))
