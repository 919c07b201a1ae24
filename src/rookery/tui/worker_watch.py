"""Checks whether the current session's worker responds: regularly, and whenever a command is
ignored."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.message import Message

from rookery.core.refusals import Refused
from rookery.tui.messages import HungChanged

if TYPE_CHECKING:
    from rookery.operations.calling.interface import Rookery

EVERY = 5.0
"""Seconds between two checks."""
RESPONSE_TIMEOUT = 3.0
"""Seconds to wait for a response: a busy machine is slow."""


async def watch(
    rookery: "Rookery", session: str, due: asyncio.Event, tell: Callable[[Message], object]
) -> None:
    """Check the worker for ever, and report each change; setting `due` triggers a check at once."""
    before = False
    while True:
        due.clear()
        try:
            silent = await asyncio.to_thread(rookery.hung, session, RESPONSE_TIMEOUT)
        except Refused:
            silent = before  # of a link that is broken, nothing is known
        if silent != before:
            before = silent
            tell(HungChanged(session, silent))
        with suppress(TimeoutError):
            async with asyncio.timeout(EVERY):
                await due.wait()
