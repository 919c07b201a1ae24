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


async def watch(
    home: str, session: str, due: asyncio.Event, tell: Callable[[Message], object]
) -> None:
    """`due`: check now."""
    from rookery.client.liveness import hung

    before = False
    while True:
        due.clear()
        silent = bool(await asyncio.to_thread(hung, home, [session], PATIENCE))
        if silent != before:
            before = silent
            tell(HungChanged(session, silent))
        with suppress(TimeoutError):
            async with asyncio.timeout(EVERY):
                await due.wait()
