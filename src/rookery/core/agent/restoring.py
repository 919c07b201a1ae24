"""Whether a stored conversation is gone or only out of reach for now (row A5).

Gone: a fresh session takes its place, and that is said. Out of reach: it is kept, and tried again.
"""

import re

from rookery.core.agent.messages import Past
from rookery.core.json import lenient
from rookery.core.json.events import Json, dumps

UNAUTHENTICATED = -32000
GONE = frozenset({-32002, -32601, -32602})
"""Resource not found, method not found, invalid parameters: none of them passes by waiting."""

PATIENCE = 2
"""So many failures in a row of one stored session; the next start goes fresh."""

KILLED = frozenset({-1, -2, -9, -15, 128 + 1, 128 + 2, 128 + 9, 128 + 15})
"""Exit statuses of an agent that somebody ended: HUP, INT, KILL, TERM, as the system says them and
as a shell does."""

_THING = r"(session|conversation|thread|rollout|resource)"
_LOST = re.compile(
    rf"\b(no|unknown|invalid|missing|(cannot|could not|couldn't) find)\b[^.]{{0,20}}{_THING}"
    rf"|{_THING}[^.]{{0,80}}\b(not found|unknown|invalid|missing|(does not|doesn't|not) exist)"
)


def is_gone(error: Json) -> bool:
    """An agent's refusal says that it does not know the session any more."""
    code = error.get("code")
    if code == UNAUTHENTICATED:
        return False
    said = lenient.text(error, "message") + " " + dumps(error.get("data"))
    return code in GONE or _LOST.search(said[:4000].lower()) is not None


def was_killed(status: int) -> bool:
    """From outside, by a person or for want of memory: that says nothing of the conversation."""
    return status in KILLED


def failed_again(past: Past, stored: str | None, why: str) -> Past:
    """It could not be restored, for a reason that may pass."""
    before = past.transient if past.stored == stored else 0
    return past._replace(transient=before + 1, stored=stored or "", why=why)


def restored(past: Past) -> Past:
    return past._replace(transient=0, stored="", why="")


def given_up(past: Past, stored: str) -> bool:
    """Nobody is to be stuck with a session that never comes back."""
    return past.stored == stored and past.transient >= PATIENCE
