"""The agent is told that a session is deleted for good, so that it forgets it, too. Best effort: a
deletion waits a moment for it and never fails by it.

One that is awake is told whatever it can do. One that sleeps is started for it only where it said
that it can delete: nothing is started in vain.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from rookery.client.session import UNSENT, SessionClient
from rookery.client.start import connectable
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader

START = 20.0
"""Seconds for an agent that sleeps to come awake."""

ANSWER = 5.0
"""Seconds for a worker that is awake: more than its agent has."""


def say_farewell(home: str, session: str) -> str:
    """What came of it, for whoever looks for a fault; "" where no agent knows the session."""
    directory = paths.session_dir(home, session)
    try:
        with Reader.open(directory) as log:
            header = log.header()
    except LogError as error:
        return f"its agents could not be looked up: {error}"
    if header["agentSession"] is None:
        return ""
    awake = connectable(paths.socket_path(directory))
    if not awake and not can_delete(header):
        return f"{header['agent']} is asleep and is not known to delete sessions"
    telling = _told(home, session, header, awake=awake)
    try:
        with ThreadPoolExecutor(1) as thread:  # whoever calls this may have a loop of their own
            return thread.submit(asyncio.run, telling).result()
    except TimeoutError:
        return f"{header['agent']} did not answer in time"
    except UNSENT as error:
        return f"{header['agent']} could not be reached: {error}"


def went_wrong(said: str) -> bool:
    """Whether an agent may still keep what it should have forgotten."""
    return "could not be" in said or "did not answer in time" in said


def can_delete(header: Json) -> bool:
    abilities = lenient.mapping(header["capabilities"], "sessionCapabilities")
    return isinstance(abilities.get("delete"), dict)


async def _told(home: str, session: str, header: Json, *, awake: bool) -> str:
    with SessionClient(home, session) as client:
        if not awake or (can_delete(header) and header["process"]["state"] != "ready"):
            async with asyncio.timeout(START):
                await client.send({"do": "start"})
        async with asyncio.timeout(ANSWER):
            outcome = await client.send({"do": "delete"})
        return lenient.text(outcome.update, "detail")
