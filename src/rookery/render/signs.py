"""A sign and a label for each state, the same in every face and readable without colour."""

from rookery.core.blocks import Block
from rookery.core.json import Json
from rookery.core.view import states
from rookery.render.local_time import clock_time

SIGNS = {
    "pending": ("○", "-"),
    "running": ("◐", ">"),
    "done": ("✓", "ok"),
    "failed": ("✗", "!!"),
    "damaged": ("✗", "!!"),
    "limited": ("▲", "!"),
    "needs-you": ("◆", "?"),
    "warn": ("▲", "!"),
    "note": ("i", "i"),
    "stopped": ("■", "#"),
    "idle": ("●", "-"),
    "waiting": ("◌", "~"),
    "asleep": ("·", "."),
    "held": ("▲", "!"),
    "hung": ("✗", "!!"),
    "to-read": ("•", "*"),
    "not-begun": ("○", "-"),
    "not-loaded": ("○", "-"),
    "unread": ("•", "*"),
}
"""A sign, and what replaces it where the encoding lacks it."""

NOTICES = {"error": "failed", "info": "note", "": "note"}
NOTICES |= dict.fromkeys(("warn", "warning", "rate_limited"), "warn")
"""By the level of ours, or the severity of an agent's."""


def notice_state(block: Block) -> str:
    """Return the state of a notice: failed, warn, note or stopped."""
    status = "error" if block["role"] == "error" else block["status"]
    return NOTICES.get(status, "stopped")


def label(listed: Json, now: float) -> str:
    """Return the label of a session in a list; `listed` includes what `states.standing` returns."""
    condition = listed["condition"]
    if condition == "limited":
        return limited(int(listed.get("limitedUntil") or 0), now)
    return states.label_of(condition, queued=listed["queue"])


def limited(until: int, now: float) -> str:
    """Return `limited until 09:00`, or `limited, lifted at 09:00` if it did not continue by
    itself."""
    clock = clock_time(until, now) if until else ""
    if clock and until <= now:
        return f"{states.label_of('limited')}, lifted at {clock}"
    return states.label_of("limited", until=clock)
