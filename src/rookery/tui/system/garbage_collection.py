"""Collects garbage while nothing happens: a full collection takes longer than a key may wait."""

import gc
from time import monotonic

QUIET = 2.0
"""Seconds without a key or news before a full collection."""

MAX_INTERVAL = 120.0
"""Seconds between two full collections at most."""


YOUNG = 5000
"""New objects before a collection of the young ones, which takes a millisecond or two."""


class GarbageCollection:
    """Schedules collections. Call `begin` in a process of its own, `wake` after the first paint,
    `stir` when something happens, `sweep` every `QUIET` seconds."""

    def __init__(self) -> None:
        self._stirred = self._swept = monotonic()
        self._own = False

    def begin(self) -> None:
        never = 1_000_000
        self._own = True
        gc.set_threshold(YOUNG, never, never)
        gc.disable()

    def wake(self) -> None:
        """Exempt what the first paint loaded, without a collection: the first keys come now."""
        if self._own:
            gc.freeze()
            gc.enable()

    def settle(self) -> None:
        """Collect once, and exempt everything loaded by now from later collections."""
        if self._own:
            gc.collect()
            gc.freeze()
            self._swept = monotonic()

    def stir(self) -> None:
        self._stirred = monotonic()

    def sweep(self) -> None:
        now = monotonic()
        quiet = self._stirred > self._swept and now - self._stirred > QUIET
        if self._own and (quiet or now - self._swept > MAX_INTERVAL):
            gc.collect()
            self._swept = now
