"""How a race begins: each agent's session is made and gets the prompt."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rookery.client.worktrees.repository import NoWorktree
from rookery.core.json import lenient
from rookery.operations.calling.interface import Rookery


class Entry(NamedTuple):
    """An agent at the start of a race."""

    agent: str
    session: str = ""
    why: str = ""
    """It is skipped."""


async def enter(
    rookery: Rookery,
    agent: str,
    prompt: str,
    create: Callable[[], str],
    faults: Sequence[type[Exception]] = (),
    *,
    label: str = "",
    command: str = "",
) -> Entry:
    """Create its session and send it the prompt; one that cannot start does not hold up the others.
    `faults`: what else `create` may raise. `label`: what its title begins with, since the prompt is
    the same for all. `command`: the prompt's id, with which it is sent once."""
    from rookery.agents.registry import NotInstalled, UnknownAgent
    from rookery.client.daemon.errors import RemoteError
    from rookery.client.guard import FromAgent
    from rookery.client.session import UNSENT
    from rookery.home.config import ConfigError

    known: tuple[type[Exception], ...] = (
        *UNSENT,
        NotInstalled,
        UnknownAgent,
        NoWorktree,
        FromAgent,
        RemoteError,
        ConfigError,
    )
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
    except (*known, *faults) as error:
        words = f"{error} {error.remedy}" if isinstance(error, NoWorktree) else str(error)
        words = "no such agent" if isinstance(error, UnknownAgent) else words
        return Entry(agent, why=words.strip())
    return Entry(agent, session)
