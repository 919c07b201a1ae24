"""A turn in which the player floods text, seen by a follower in another process: what both
benchmarks of a stream look at."""

import asyncio
import json
import os
import sys
from typing import NamedTuple

from bench.bytecode import HERE
from bench.roost import Roost, play, take_turn
from rookery.client.session import SessionClient
from rookery.core.json.events import Json, kind_of

LINE = 256 * 1024 * 1024
"""Bytes that a follower's report may have."""


class Received(NamedTuple):
    at: int
    """Nanoseconds of the monotonic clock."""
    text: str


class Seen(NamedTuple):
    began: int
    """When the follower heard that the turn had begun."""
    events: list[Received]
    logged: str
    """The turn's text as the log has it."""


async def flood(place: Roost, session: str, step: Json, patience: float) -> Seen:
    """Play one `flood` step and return what was seen of it. The session's agent must be awake."""
    client = place.client(session)
    follower = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.follower", place.home, session),
        stdout=asyncio.subprocess.PIPE,
        cwd=os.path.dirname(HERE),
        limit=LINE,
    )
    assert follower.stdout is not None
    try:
        async with asyncio.timeout(patience):
            if await follower.stdout.readline() != b"ready\n":
                raise RuntimeError("the follower did not come up")
            await client.send({"do": "prompt", "prompt": play(step)})
            report = await follower.stdout.readline()
        logged = _logged(client)
    finally:
        client.close()
        if follower.returncode is None:
            follower.kill()
        await follower.wait()
    (began, _), *events = json.loads(report)
    return Seen(began, [Received(*event) for event in events], logged)


async def wake(place: Roost) -> str:
    """A session whose agent is up: its first turn is over."""
    session = place.session()
    client = place.client(session)
    try:
        async with asyncio.timeout(60):
            await take_turn(client, play({"text": "Good morning."}))
    finally:
        client.close()
    return session


def _logged(client: SessionClient) -> str:
    turn = client.log.page(client.log.turns())
    return "".join(
        event.update["content"]["text"]
        for event in turn
        if kind_of(event.update) == "agent_message_chunk"
    )
