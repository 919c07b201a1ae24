"""When memory is swept: a full sweep takes longer than a key may wait, so it comes while nobody
does anything."""

import gc
from time import monotonic

QUIET = 2.0
"""Seconds without a key or news after which there is time for all of it."""

LONGEST = 120.0
"""Seconds after which it is swept in any case."""


YOUNG = 5000
"""New objects after which the young ones alone are swept: that takes a millisecond or two."""


class Sweeping:
    """`begin` in a process of its own, `wake` behind the first picture, `stir` whenever something
    happens, `sweep` each second."""

    def __init__(self) -> None:
        self._stirred = self._swept = monotonic()
        self._own = False

    def begin(self) -> None:
        never = 1_000_000
        self._own = True
        gc.set_threshold(YOUNG, never, never)
        gc.disable()

    def wake(self) -> None:
        """The first picture is there."""
        if self._own:
            gc.enable()

    def settle(self) -> None:
        """What is loaded by now stays: no sweep looks at it again."""
        if self._own:
            gc.collect()
            gc.freeze()
            self._swept = monotonic()

    def stir(self) -> None:
        self._stirred = monotonic()

    def sweep(self) -> None:
        now = monotonic()
        quiet = self._stirred > self._swept and now - self._stirred > QUIET
        if self._own and (quiet or now - self._swept > LONGEST):
            gc.collect()
            self._swept = now
