"""When what happened is sent: all that is due at once, and less often where that takes long."""

import asyncio
from collections.abc import Callable
from time import perf_counter

WINDOW = 0.02
"""Seconds in which what happens is gathered into one message."""
SLOWEST = 0.2
SHARE = 3
"""How many times as long as sending took, the next window is at least."""


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
        self._timer = None
        due, self._due = self._due, {}
        began = perf_counter()
        for run in due:
            run()
        took = perf_counter() - began
        self._window = min(SLOWEST, max(WINDOW, SHARE * took))
