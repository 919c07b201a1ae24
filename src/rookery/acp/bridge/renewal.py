"""The editor's environment for an agent that is started anew: whoever logged in, or gave the editor
a key, did it there (row A1). As `rookery prompt` and `switch-agent` do with a terminal's."""

import asyncio
from contextlib import suppress

from rookery.client import environment
from rookery.client.session import Refused, Rejected, SessionClient, Trouble
from rookery.client.start import StartError, connectable
from rookery.core.json.events import Json
from rookery.core.turn.remedies import wants_login
from rookery.home import paths
from rookery.log.errors import LogError


async def hand_over(client: SessionClient, header: Json) -> str:
    """From its next start on the session's agent has the environment of this process. Which
    variables differ, in words; "" where none does."""
    with suppress(OSError):
        change = await asyncio.to_thread(environment.renew, client.home, header)
        if change is not None:
            return f"The agent gets the environment of this editor: {change.words()}"
    return ""


async def after_login(client: SessionClient, header: Json) -> str:
    """Before a prompt to an agent that wanted a log-in; one that still runs is restarted."""
    words = await hand_over(client, header) if wants_login(header) else ""
    if words and connectable(paths.socket_path(client.directory)):
        with suppress(Rejected, Refused, Trouble, StartError, LogError, OSError):
            await client.send({"do": "restart"})
    return words
