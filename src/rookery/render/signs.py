"""A sign for each state, the same in every face: it says the state without a colour."""

from rookery.core.blocks import Block

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
    "unread": ("•", "*"),
}
"""A sign, and what replaces it where the encoding lacks it."""

NOTICES = {"error": "failed", "info": "note", "": "note"}
NOTICES |= dict.fromkeys(("warn", "warning", "rate_limited"), "warn")
"""By the level of ours, or the severity of an agent's."""


def notice_state(block: Block) -> str:
    """failed, warn, note or stopped."""
    status = "error" if block["role"] == "error" else block["status"]
    return NOTICES.get(status, "stopped")
