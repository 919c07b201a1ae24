"""The editor's environment for an agent that is started anew: whoever logged in, or gave the editor
a key, did it there. As the commands do with a terminal's."""

import asyncio
from contextlib import suppress

from rookery.client import environment
from rookery.client.session import Refused, Rejected, SessionClient, Trouble
from rookery.client.start import StartError
from rookery.core.json.events import Json
from rookery.log.errors import LogError

EDITOR = "editor"


async def hand_over(client: SessionClient, header: Json, command: Json) -> str:
    """Before a command that starts the agent anew, or a prompt to one that wanted a log-in: which
    variables differ, in words; "" where none does."""
    try:
        renewal = await asyncio.to_thread(
            environment.renew_before, client.home, header, command, EDITOR
        )
    except OSError:
        return ""
    if renewal is None:
        return ""
    if renewal.restart:
        with suppress(Rejected, Refused, Trouble, StartError, LogError, OSError):
            await client.send({"do": "restart"})
    return f"The agent gets the environment of this editor: {renewal.change.words()}"
