"""What goes beside a prompt, under `_meta.rookery`, for agents that know us (docs/sessions.md)."""

from rookery.core.critic import loop
from rookery.core.json.events import Json
from rookery.core.limits import CriticPolicy


def prompt_meta(header: Json, policy: CriticPolicy, *, continues: bool, can_continue: bool) -> Json:
    """Nobody wants a verdict of its own critic; it goes on where it was; what it had asked was
    given up while it was away."""
    unjudged = not loop.in_force(policy, header["critic"]).enabled
    meta: Json = {"critic": False} if unjudged else {}
    if continues:
        meta["continue"] = True
    elif header["_dropped"] and can_continue:
        meta["drop"] = True
    return {"_meta": {"rookery": meta}} if meta else {}
