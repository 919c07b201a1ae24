"""The open connections of devices: WebSockets, and responses that are still being sent. A device
that is logged out loses them at once; a tab that is closed loses its streams soon after."""

import asyncio
from collections.abc import Awaitable


class Visits:
    """The open connections of each device; use only on the daemon's event loop."""

    def __init__(self) -> None:
        self._open: dict[str, set[_Visit]] = {}

    async def run(self, device: str, work: Awaitable[None], tab: str = "") -> bool:
        """Run `work` to its end. Return False if it was cancelled because the device was logged out
        or its tab has gone."""
        task = asyncio.current_task()
        assert task is not None
        visit = _Visit(task, tab)
        visits = self._open.setdefault(device, set())
        visits.add(visit)
        try:
            await work
        except asyncio.CancelledError:
            if not visit.ended or task.uncancel():
                raise
        finally:
            visits.discard(visit)
            if not visits:
                self._open.pop(device, None)
        return not visit.ended

    def devices(self) -> list[str]:
        return list(self._open)

    def end(self, device: str, tab: str | None = None) -> None:
        """End all work of a device, or the streams of one of its tabs."""
        for visit in self._open.get(device, ()):
            if tab in (None, visit.tab):
                visit.ended = True
                visit.task.cancel()


class _Visit:
    def __init__(self, task: "asyncio.Task[object]", tab: str) -> None:
        self.task = task
        self.tab = tab
        self.ended = False
