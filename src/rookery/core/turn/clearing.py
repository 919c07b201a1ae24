"""A conversation that starts over while its log stays: what a clear does to the agent's session and
to the header.

    command   the agent has a command for it, which it advertises: sent as a turn of its own
    new       another session on the agent that runs, which is put into the same modes
    later     no agent runs: its next start opens a fresh session
"""

from typing import NamedTuple

from rookery.core.json import Draft, Json, lenient
from rookery.core.vendors.profiles import Profile

ORIGIN = "clear"
"""Of the prompt that is an agent's own command."""


class Clearing(NamedTuple):
    """A clear by a new session that is under way."""

    cause: str
    by: str | None
    session: str = ""
    """The agent's session until now: it stays where the new one is refused."""
    current: Json | None = None
    """Mode, model and effort, which the new session is to have, too."""


def own_command(profile: Profile, commands: list[Json]) -> str:
    """The agent's own command, where it has one and says so; "" else."""
    offered = {lenient.text(command, "name").removeprefix("/") for command in commands}
    return next((f"/{name}" for name in profile.clear if name in offered), "")


def cleared(how: str, cause: str | None, by: str | None, session: str = "") -> Draft:
    update: Json = {"sessionUpdate": "_context", "state": "cleared", "how": how}
    return Draft(update | ({"sessionId": session} if session else {}), cause, by)


def refused(clearing: Clearing, why: str) -> Draft:
    words = f"The conversation was not cleared: {why}"
    update = {"sessionUpdate": "_rejected", "command": "clear", "reason": "not_cleared"}
    return Draft(update | {"message": words}, clearing.cause, clearing.by)


def after(header: Json, update: Json, seq: int) -> Json:
    """The fields of a header that a clear changes: all turns so far are folded away, not gone. What
    the agent can do stays; a prompt that met a limit is not sent again by itself."""
    changes: Json = {"fold": {"turn": header["turn"], "seq": seq}, "rateLimit": None}
    if update.get("how") == "later":
        changes["agentSession"] = None
    elif session := lenient.text(update, "sessionId"):
        changes["agentSession"] = {"name": header["agent"], "id": session}
    return changes


def is_folded(fold: Json | None, block: str) -> bool:
    """Whether a block, by its id, is of the turns that were folded away."""
    if not fold:
        return False
    turn, _, rest = block.partition(".")
    seq, last = rest.rstrip("?$s"), int(fold["turn"])
    if int(turn) != last or not seq.isdecimal():
        return int(turn) <= last
    return int(seq) < int(fold["seq"])
