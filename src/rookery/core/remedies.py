"""What a person can do about an end that was not wished for: one sentence each, in their terms."""

from rookery.core import loose
from rookery.core.events import Json


def remedy_for(reason: str, error: Json, agent: str) -> str:
    """The sentence that goes with a turn's end, or ""."""
    if reason == "failed":
        return _for_error(error, agent)
    return {
        "rate_limited": "Wait for the reset, or continue in another agent.",
        "agent_exited": "The next prompt starts it again; `rookery logs` shows what it said.",
        "interrupted": "The next prompt wakes the session and goes on from here.",
        "unresponsive": "The next prompt starts it again.",
        "max_tokens": "Send a prompt to let it go on.",
        "max_turn_requests": "Send a prompt to let it go on.",
    }.get(reason, "")


def _for_error(error: Json, agent: str) -> str:
    code = error.get("code")
    kind = loose.text(loose.mapping(error, "data"), "errorKind")
    if code == -32000 or kind == "auth":
        return f"Log in to {agent or 'the agent'} in a terminal, then send the prompt again."
    if kind == "network":
        return "Check the network and the agent's base URL, then send the prompt again."
    if kind == "context":
        return "The conversation is too long for the model: clear or compact it, then try again."
    return "The session is still usable: send the prompt again, or look at `rookery logs`."
