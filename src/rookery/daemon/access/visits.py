"""What devices have open: WebSockets, and answers that are still being sent. A device that is
logged out loses them at once, a tab that is closed its streams soon."""

import asyncio
from collections.abc import Awaitable


class Visits:
    """Of the daemon's loop alone."""

    def __init__(self) -> None:
        self._open: dict[str, set[_Visit]] = {}

    async def run(self, device: str, work: Awaitable[None], tab: str = "") -> bool:
        """Until it is done. False: the device was logged out, or its tab is gone, and the work was
        cancelled."""
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
        """All of a device, or the streams of one of its tabs."""
        for visit in self._open.get(device, ()):
            if tab in (None, visit.tab):
                visit.ended = True
                visit.task.cancel()


class _Visit:
    def __init__(self, task: "asyncio.Task[object]", tab: str) -> None:
        self.task = task
        self.tab = tab
        self.ended = False
