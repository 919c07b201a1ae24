"""Texts about a rejected action: one for the model, one for the user."""

from rookery.core.policy.auto_answer import DENIED
from rookery.core.policy.planning import FORBIDDEN

REASON = "The user rejected this action."
_WITH_WORDS = f"{REASON} Their reason: "


def for_model(remark: str) -> str:
    """Return the text for the model. `remark`: the user's own reason; "" if there is none."""
    return _WITH_WORDS + remark if remark else REASON


def for_user(reason: str, *, by_hook: bool) -> str:
    if reason.startswith((DENIED, FORBIDDEN.capitalize())):
        return reason
    if by_hook:
        return f"A hook rejected this: {reason}"
    if reason == REASON:
        return "You rejected this."
    return f"You rejected this: {reason.removeprefix(_WITH_WORDS)}"
