"""Whether the worker of the session that is shown answers: asked now and then, and at once where a
command was not taken notice of."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from textual.message import Message

from rookery.tui.messages import HungChanged

EVERY = 5.0
"""Seconds between two questions."""
PATIENCE = 3.0
"""Seconds for an answer: on a busy machine it takes its time."""


class Lookout:
    """In the thread of files and sockets."""

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
