"""Sending commands from HTTP requests to a session."""

import asyncio
from collections.abc import Sequence
from urllib.parse import quote

from rookery.client import attach, fleet
from rookery.core.ask import ask_of
from rookery.core.header import Header
from rookery.core.json import Event, Json
from rookery.daemon.access.devices import Device
from rookery.daemon.access.recognition import forbidden
from rookery.daemon.access.roles import ALL, command_fault
from rookery.daemon.api.bodies import Attached
from rookery.daemon.errors import Problem
from rookery.daemon.state import State
from rookery.home import paths
from rookery.operations.calling.local_session import LocalSession

COMMAND_TIMEOUT = 60.0
"""Seconds to wait for a command's outcome: a worker may have to start."""


async def send(daemon: State, session: str, command: Json) -> Event:
    """Send a command and return its outcome. Raises Rejected and its like, and Problem if the
    worker hangs or the device may not send the command."""
    with LocalSession(daemon.home, session, "web") as client:
        if daemon.device and daemon.role != ALL:
            command = _allowed(daemon.device, command, client.log.header())
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT):
                return await client.send(command)
        except TimeoutError:
            raise Problem(
                503,
                "no_answer",
                "The session's worker does not respond; the command may still be done.",
                "Send it again with the same id, or kill the session's processes.",
            ) from None


def _allowed(device: Device, command: Json, header: Header) -> Json:
    """Return the command, bound to the ask that was checked. Raises Problem."""
    ask = ask_of(header, command.get("ask"))
    if why := command_fault(device.role, command, ask):
        raise forbidden(device, why)
    nonce = ask.nonce if ask else ""
    return command if command.get("nonce") or not nonce else command | {"nonce": nonce}


def first_prompt(
    home: str, session: str, text: str, files: Sequence[str], given: Sequence[Attached]
) -> list[Json]:
    """Return the content blocks of a new session's prompt. `files` are paths that the text names,
    relative to the session's directory, which is only known now."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    cwd = str((fleet.head_of_session(home, session) or {}).get("cwd", ""))
    for name in files:
        uri = f"file://{quote(f'{cwd}/{name}')}"
        blocks.append({"type": "resource_link", "name": name, "uri": uri})
    sent = attach.decoded([each.model_dump() for each in given])
    return blocks + attach.stage(paths.session_dir(home, session), sent)
