"""Loading the history of imported sessions by `session/load`, in the session's worker: until then
only their agents have it."""

import asyncio
from collections.abc import Sequence

from rookery.cli import target
from rookery.cli.output import Screen, clean_line
from rookery.core.json.safe_text import count
from rookery.core.refusals import Refused, sentences
from rookery.operations.calling.interface import Rookery

AT_ONCE = 3
"""Workers that load at a time."""


def ensure_loaded(screen: Screen, session: str) -> None:
    """Load a session's history before it is read. If the agent does not give it, the user is told,
    and what is here is read."""
    rookery = target.rookery()
    head = rookery.head(session)
    if not head or not head.get("unloaded"):  # unknown to a daemon of an earlier build
        return
    screen.status(f"Loading the history from {clean_line(head['agent'])} …")
    why = asyncio.run(_load(rookery, session))
    screen.status("")
    if why:
        screen.note(clean_line(f"The history was not loaded. {why}"))


async def load_all(screen: Screen, sessions: Sequence[str]) -> bool:
    """Load several at a time, and let them sleep again; return whether all were loaded."""
    rookery, slots, done, failed = target.rookery(), asyncio.Semaphore(AT_ONCE), 0, 0

    async def load(session: str) -> None:
        nonlocal done, failed
        async with slots:
            why = await _load(rookery, session, sleeps=True)
        done += 1
        if why:
            failed += 1
            screen.note(clean_line(f"{session}: the history was not loaded. {why}"))
        screen.status(f"{done:,} of {count(len(sessions), 'session')} loaded …")

    async with asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(load(session), name=session)
    screen.note(f"Loaded the history of {count(done - failed, 'session')}.")
    return not failed


async def _load(rookery: Rookery, session: str, *, sleeps: bool = False) -> str:
    """Load a history; return why it could not be loaded, or ""."""
    try:
        with rookery.open(session) as client:
            await client.send({"do": "start"})
            if sleeps:
                await client.send({"do": "stop", "idle": True, "room": True})
    except (Refused, OSError) as error:
        return sentences(error)
    return ""
