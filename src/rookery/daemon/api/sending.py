"""Commands from requests to a session."""

import asyncio

from rookery.client.session import SessionClient
from rookery.core.json import Event, Json
from rookery.daemon.errors import Problem
from rookery.daemon.state import State

PATIENCE = 60.0
"""Seconds for a command's outcome: a worker may have to start."""


async def send(daemon: State, session: str, command: Json) -> Event:
    """Its outcome. Raises Rejected and its like, and Problem: the worker hangs."""
    with SessionClient(daemon.home, session, "web") as client:
        try:
            async with asyncio.timeout(PATIENCE):
                return await client.send(command)
        except TimeoutError:
            raise Problem(
                503,
                "no_answer",
                "The session's worker does not respond; the command may still be done.",
                "Send it again with the same id, or kill the session's processes.",
            ) from None
