"""Who sent a command, and which senders may send which commands."""

from typing import NamedTuple

from rookery.core import commands
from rookery.core.asks.asks import Refusal
from rookery.core.commands import Command
from rookery.core.json import Json

WRONG_SOCKET = "wrong_socket"

UPDATE = (
    "The worker accepts answers and modes only on its control socket, which this client "
    "does not know. Restart or update the client."
)


class Sender(NamedTuple):
    name: str
    agents: bool = False
    """It descends from an agent of this home."""
    controls: bool = False
    """It came by the control socket, which no confined agent can reach."""


def refusal(
    command: Json, row: Command | None, sender: Sender, *, confined: bool, alone: bool
) -> Refusal | None:
    """Return why a command is not accepted from this sender; None if it is. `confined`: the agent
    cannot reach the control socket, so a command over the other socket proves nothing; `alone`:
    only agents have had to do with the session since its worker began."""
    if sender.agents:
        return commands.agents_refusal(command, row, alone=alone)
    if confined and not sender.controls and commands.is_guarded(command, row):
        return Refusal(WRONG_SOCKET, UPDATE)
    return None
