"""An action that was rejected: what the model is told, and what the user sees of it."""

from rookery.core.policy.auto_answer import DENIED
from rookery.core.policy.planning import FORBIDDEN

REASON = "The user rejected this action."
_WITH_WORDS = f"{REASON} Their reason: "


def for_model(said: str) -> str:
    """`said`: the user's own words; "": none."""
    return _WITH_WORDS + said if said else REASON


def for_user(reason: str, *, by_hook: bool) -> str:
    if reason.startswith((DENIED, FORBIDDEN.capitalize())):
        return reason
    if by_hook:
        return f"A hook rejected this: {reason}"
    if reason == REASON:
        return "You rejected this."
    return f"You rejected this: {reason.removeprefix(_WITH_WORDS)}"
