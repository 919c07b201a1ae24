"""Whether the shown session's worker responds: checked regularly, and when a command is ignored."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from textual.message import Message

from rookery.tui.messages import HungChanged

EVERY = 5.0
"""Seconds between two checks."""
PATIENCE = 3.0
"""Seconds to wait: a busy machine is slow."""


class Lookout:
    def __init__(self, home: str, session: str, tell: Callable[[Message], object]) -> None:
        self._home = home
        self._session = session
        self._tell = tell
        self._due = asyncio.Event()

    def look_now(self) -> None:
        self._due.set()

    async def watch(self) -> None:
        from rookery.client.liveness import hung

        before = False
        while True:
            self._due.clear()
            silent = await asyncio.to_thread(hung, self._home, [self._session], PATIENCE)
            if bool(silent) != before:
                before = bool(silent)
                self._tell(HungChanged(self._session, before))
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._due.wait()
