"""Entering agents in a race: each one's session is created and gets the prompt."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from rookery.agents.registry import UnknownAgent
from rookery.core.json import lenient
from rookery.core.refusals import Refused, sentences
from rookery.operations.calling.interface import Rookery


class Entry(NamedTuple):
    """An agent at the start of a race, with its session or the reason why it is skipped."""

    agent: str
    session: str = ""
    why: str = ""
    """It is skipped."""


async def enter(
    rookery: Rookery,
    agent: str,
    prompt: str,
    create: Callable[[], str],
    faults: tuple[type[Exception], ...] = (),
    *,
    label: str = "",
    command: str = "",
) -> Entry:
    """Create the agent's session and send it the prompt. One that cannot start does not hold up the
    others. `faults`: what else `create` may raise. `label`: what its title begins with, since the
    prompt is the same for all. `command`: the prompt's id, which makes sure that it is sent once.
    """
    known: tuple[type[Exception], ...] = (Refused, OSError, *faults)
    try:
        session = await asyncio.to_thread(create)
        with rookery.open(session) as client:
            try:
                sent = [{"type": "text", "text": prompt}]
                named = {"id": command} if command else {}
                title = f"{label or agent}: {lenient.first_line(prompt, 150)}"
                await client.send({"do": "rename", "title": title})
                await client.send({"do": "prompt", "prompt": sent, **named})
            except known:
                client.discard_unbegun()
                raise
    except known as error:
        unknown = isinstance(error, UnknownAgent)
        return Entry(agent, why="no such agent" if unknown else sentences(error))
    return Entry(agent, session)
