"""Paces updates of the screen: not more often than it can paint."""

import asyncio
from collections.abc import Callable

from rookery.core.blocks import Op


class Pace:
    """Merges ops into one News per frame; the first is sent at once. Any op that does more than
    extend a text is urgent: it may be the response to a key."""

    def __init__(
        self,
        tell: Callable[[list[Op]], object],
        spacing: Callable[[bool], float],
        busy: Callable[[], float],
    ) -> None:
        """`busy`: returns for how many seconds the screen has something else to do."""
        self._tell = tell
        self._spacing = spacing
        self._busy = busy
        self._ops: list[Op] = []
        self._last = 0.0
        self._due: asyncio.TimerHandle | None = None

    def add(self, ops: list[Op]) -> None:
        for op in ops:
            last = self._ops[-1] if self._ops else None
            if last is not None and op[0] == "append" and last[:2] == op[:2]:
                last[2] += op[2]
            else:
                self._ops.append(list(op))
        if not self._ops:
            return
        loop = asyncio.get_running_loop()
        urgent = any(op[0] != "append" for op in ops)
        at = max(loop.time(), self._last + self._spacing(urgent))
        if self._due is None or at < self._due.when():
            if self._due is not None:
                self._due.cancel()
            self._due = loop.call_at(at, self._flush)

    def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        if (busy := self._busy()) > 0:
            self._due = loop.call_later(busy, self._flush)
            return
        ops, self._ops = self._ops, []
        self._due = None
        self._last = loop.time()
        self._tell(ops)
