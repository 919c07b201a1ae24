"""Switching a session to another agent: which commands are accepted, and how the log and the header
change. The log stays whole; the new agent knows nothing of it until the user sends a recap."""

from collections.abc import Sequence

from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
from rookery.core.json import Json, lenient

REASONS = ("manual", "rate_limited")

OF_THE_AGENT = (
    *(
        "agentSession",
        "capabilities",
        "info",
        "continues",
        "steers",
        "forksAt",
        "commands",
        "options",
        "mode",
    ),
    *("model", "effort", "plan", "usage", "rateLimit", "retrying", "retry", "reason", "error"),
    *("limits", "resumes"),
    *("_offers", "_tools", "_plan", "_plans", "_open", "_said", "_dropped", "_started"),
    *("_children", "_messages"),
)
"""Header fields that belong to one agent, or record how it fared; a switch drops them."""


def check(command: Json, _prompt_bytes: int = 0) -> Refusal | None:
    """Return the refusal of a command that does not name the agent that is to take over."""
    if not lenient.text(command, "agent").strip():
        return Refusal("no_agent", "Name the new agent.")
    argv = command.get("argv", ["-"])
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        return Refusal("bad_argv", "An agent's command must be a list of strings.")
    if command.get("model") is not None and not lenient.text(command, "model").strip():
        return Refusal("no_model", "The model name is empty.")
    if command.get("reason") not in (None, *REASONS):
        message = f"The reason for a switch must be one of: {', '.join(REASONS)}."
        return Refusal("bad_reason", message)
    return None


def refusal(header: Header, command: Json, known: Sequence[str]) -> Refusal | None:
    """Return why this session cannot switch to that agent. `known`: the registered names."""
    name, argv = command["agent"], lenient.texts(command, "argv")
    others = ", ".join(each for each in known if each != header.agent) or "none"
    if name == header.agent and argv == header.argv:
        message = f"{name} is already this session's agent. Others: {others}."
        return Refusal("same_agent", message)
    if not argv and name not in known:
        message = f"There is no agent {name!r}. Known: {others}."
        return Refusal("unknown_agent", message)
    return None


def foreseen(header: Header, before: str, name: str) -> list[str]:
    """Return, in sentences, what is lost by switching; empty if nothing is. `before`, `name`: the
    display names of the old and the new agent."""
    running = header.state != "idle"
    if not (running or header.turn or header.queue):
        return []
    sentences = [f"The conversation stays here, but {name} has no memory of it."]
    if running:
        sentences.append(f"The running turn is cancelled, and {before} is stopped.")
    else:
        sentences.append(f"{before} is stopped; its modes and limits are lost.")
    return sentences + (["Queued prompts are kept."] if header.queue else [])


def switched(header: Header, command: Json) -> Json:
    """Return the `_agent` update that logs the switch."""
    limited = header.rate_limit is not None and header.reason == "rate_limited"
    update: Json = {
        "sessionUpdate": "_agent",
        "state": "switched",
        "name": command["agent"],
        "from": header.agent,
        "to": command["agent"],
        "argv": lenient.texts(command, "argv"),
        "reason": command.get("reason") or REASONS[limited],
    }
    return update | ({"model": command["model"]} if command.get("model") else {})


def after(header: Header, update: Json, empty: Json) -> Json:
    """Return the header fields that a switch changes. Pins go, too: vendors name them."""
    name, model = lenient.text(update, "to") or header.agent, lenient.text(update, "model")
    return {field: empty[field] for field in OF_THE_AGENT} | {
        "agent": name,
        "argv": lenient.texts(update, "argv"),
        "process": {"state": "absent", "name": name},
        "wanted": {"model": model} if model else {},
    }
