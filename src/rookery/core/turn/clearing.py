"""Clearing a conversation while its log stays: the effect on the agent's session and on
the header.

    command   the agent advertises a command for it: sent as a turn of its own
    new       a new session on the running agent, which is put into the same modes
    later     no agent runs: its next start opens a fresh session"""

from typing import NamedTuple

from rookery.core.header import Header
from rookery.core.json import Draft, Json, lenient
from rookery.core.vendors.profiles import Profile

ORIGIN = "clear"
"""The origin of a prompt that is the agent's own clear command."""


class Clearing(NamedTuple):
    """A clear by opening a new session, while it is under way."""

    cause: str
    by: str | None
    session: str = ""
    """The agent's session until now: it stays where the new one is refused."""
    current: Json | None = None
    """Mode, model and effort, which the new session is to have, too."""


def own_command(profile: Profile, commands: list[Json]) -> str:
    """Return the agent's own clear command if it advertises one; "" otherwise."""
    offered = {lenient.text(command, "name").removeprefix("/") for command in commands}
    return next((f"/{name}" for name in profile.clear if name in offered), "")


def cleared(how: str, cause: str | None, by: str | None, session: str = "") -> Draft:
    update: Json = {"sessionUpdate": "_context", "state": "cleared", "how": how}
    return Draft(update | ({"sessionId": session} if session else {}), cause, by)


def refused(clearing: Clearing, why: str) -> Draft:
    message = f"The conversation was not cleared: {why}"
    update = {"sessionUpdate": "_rejected", "command": "clear", "reason": "not_cleared"}
    return Draft(update | {"message": message}, clearing.cause, clearing.by)


def after(header: Header, update: Json, seq: int) -> Json:
    """Return the header's changes after a clear: all turns so far are folded away, not gone. The
    agent's capabilities stay; a prompt that met a limit is not sent again automatically."""
    changes: Json = {"fold": {"turn": header.turn, "seq": seq}, "rateLimit": None}
    if update.get("how") == "later":
        changes["agentSession"] = None
    elif session := lenient.text(update, "sessionId"):
        changes["agentSession"] = {"name": header.agent, "id": session}
    return changes


def is_folded(fold: Json | None, block: str) -> bool:
    """Return whether a block, by its id, belongs to the turns that were folded away."""
    if not fold:
        return False
    turn, _, rest = block.partition(".")
    seq, last = rest.rstrip("?$s"), int(fold["turn"])
    if int(turn) != last or not seq.isdecimal():
        return int(turn) <= last
    return int(seq) < int(fold["seq"])
