"""Commands from requests to a session."""

import asyncio

from rookery.client.session import SessionClient
from rookery.core.json import Event, Json, lenient
from rookery.daemon.access.devices import Device
from rookery.daemon.access.recognition import forbidden
from rookery.daemon.access.roles import ALL, command_fault
from rookery.daemon.errors import Problem
from rookery.daemon.state import State

PATIENCE = 60.0
"""Seconds for a command's outcome: a worker may have to start."""


async def send(daemon: State, session: str, command: Json) -> Event:
    """Its outcome. Raises Rejected and its like, and Problem: the worker hangs, or the device may
    not send it."""
    with SessionClient(daemon.home, session, "web") as client:
        if daemon.device and daemon.role != ALL:
            command = _allowed(daemon.device, command, client.log.header())
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


def _allowed(device: Device, command: Json, header: Json) -> Json:
    """The command, for the very ask that was looked at. Raises Problem."""
    ask = header["asks"].get(command.get("ask"))
    if why := command_fault(device.role, command, ask):
        raise forbidden(device, why)
    nonce = lenient.text(ask, "nonce")
    return command if command.get("nonce") or not nonce else command | {"nonce": nonce}
