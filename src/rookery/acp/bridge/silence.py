"""Tells the editor's user about a worker that hangs, which is silent, and what helps."""

import asyncio
from collections.abc import Callable

from rookery.acp.bridge.updates import shapes
from rookery.client import liveness
from rookery.core.json import Json

QUIET = 10.0
"""Seconds without an event, while a prompt is open, until we ask the worker whether it is alive,
and for its answer. A turn may be quiet for longer."""


class Silence:
    """Watches one session's worker. `tell` sends an update to the editor."""

    def __init__(
        self, home: str, session: str, tell: Callable[[Json], None], *, notices: bool
    ) -> None:
        self._home = home
        self._session = session
        self._tell = tell
        self._notices = notices
        self._heard_at = float("-inf")
        self._times = 0
        self._noted = False

    def heard(self) -> None:
        """Note that the worker sent something, so it is alive."""
        self._heard_at = asyncio.get_running_loop().time()
        self._noted = False

    def say(self) -> None:
        """Tell the user that the worker is silent, once for each time that it hangs."""
        if self._noted:
            return
        self._noted = True
        self._times += 1
        text = liveness.silence(self._session)
        if self._notices:
            self._tell(shapes.notice({"severity": "warning", "title": text}))
            return
        self._tell(shapes.aside(f"silence-{self._times}", text))

    async def watch(self, waits: Callable[[], bool]) -> None:
        """Watch while prompts wait. An unanswered command reports the silence itself
        (`SessionClient.on_silence`); a turn that makes no progress does not."""
        loop = asyncio.get_running_loop()
        self._heard_at = loop.time()
        while waits():
            await asyncio.sleep(max(0.0, self._heard_at + QUIET - loop.time()))
            if not waits() or loop.time() - self._heard_at < QUIET:
                continue
            look = asyncio.to_thread(liveness.hung, self._home, [self._session], QUIET)
            asked_at = loop.time()
            if not await look:
                self._heard_at = loop.time()
            elif waits() and self._heard_at < asked_at:
                self.say()
                await asyncio.sleep(QUIET)
