"""Who sends a command, and which senders may send which commands."""

from typing import NamedTuple

from rookery.core import commands
from rookery.core.asks.asks import Refusal
from rookery.core.json import Json

FROM_THE_AGENT = "from_the_agent"
WRONG_SOCKET = "wrong_socket"

WORDS = {
    "answer": "An agent cannot answer asks; this answer came from an agent's process.",
    "set": "An agent cannot change what is asked; this came from an agent's process.",
    "switch": "An agent cannot switch agents; this came from an agent's process.",
    "worktree": "An agent cannot merge or drop worktrees; this came from an agent's process.",
    "rewind": "An agent cannot rewind a session; this came from an agent's process.",
    "settings": "An agent cannot confirm settings; this came from an agent's process.",
    "prompt": "An agent cannot send slash commands; this one came from an agent's process.",
}
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


def refusal(command: Json, sender: Sender, *, confined: bool) -> Refusal | None:
    """Why a command is not taken from this sender; `confined`: the agent cannot reach the control
    socket, so that what comes by the other one proves nothing."""
    if not commands.is_guarded(command):
        return None
    if sender.agents:
        return Refusal(FROM_THE_AGENT, WORDS.get(command["do"], WORDS["prompt"]))
    if confined and not sender.controls:
        return Refusal(WRONG_SOCKET, UPDATE)
    return None
