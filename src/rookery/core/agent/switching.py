"""One agent takes over a session from another: who may, and what the log and the header then say.
The log stays whole; the one that comes knows nothing of it until the user sends a recap."""

from collections.abc import Sequence

from rookery.core.asks.asks import Refusal
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
"""What belongs to one agent, or tells how it fared, and is dropped when another takes over."""


def check(command: Json, _prompt_bytes: int = 0) -> Refusal | None:
    """Whether a command says who is to take over."""
    if not lenient.text(command, "agent").strip():
        return Refusal("no_agent", "Name the new agent.")
    argv = command.get("argv", ["-"])
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        return Refusal("bad_argv", "An agent's command must be a list of strings.")
    if command.get("model") is not None and not lenient.text(command, "model").strip():
        return Refusal("no_model", "The model name is empty.")
    if command.get("reason") not in (None, *REASONS):
        words = f"The reason for a switch must be one of: {', '.join(REASONS)}."
        return Refusal("bad_reason", words)
    return None


def refusal(header: Json, command: Json, known: Sequence[str]) -> Refusal | None:
    """Why this session cannot be taken over by that agent. `known`: the agents that have names."""
    name, argv = command["agent"], lenient.texts(command, "argv")
    others = ", ".join(each for each in known if each != header["agent"]) or "none"
    if name == header["agent"] and argv == header["argv"]:
        words = f"{name} is already this session's agent. Others: {others}."
        return Refusal("same_agent", words)
    if not argv and name not in known:
        words = f"There is no agent {name!r}. Known: {others}."
        return Refusal("unknown_agent", words)
    return None


def foreseen(header: Json, before: str, name: str) -> list[str]:
    """What it costs that another agent takes over, in sentences; none: nothing. `before`, `name`:
    how people know the two."""
    running = header["state"] != "idle"
    if not (running or header["turn"] or header["queue"]):
        return []
    found = [f"The conversation stays here, but {name} has no memory of it."]
    if running:
        found.append(f"The running turn is cancelled, and {before} is stopped.")
    else:
        found.append(f"{before} is stopped; its modes and limits are lost.")
    return found + (["Queued prompts are kept."] if header["queue"] else [])


def switched(header: Json, command: Json) -> Json:
    """The `_agent` that says so."""
    limited = header["rateLimit"] is not None and header["reason"] == "rate_limited"
    update: Json = {
        "sessionUpdate": "_agent",
        "state": "switched",
        "name": command["agent"],
        "from": header["agent"],
        "to": command["agent"],
        "argv": lenient.texts(command, "argv"),
        "reason": command.get("reason") or REASONS[limited],
    }
    return update | ({"model": command["model"]} if command.get("model") else {})


def after(header: Json, update: Json, empty: Json) -> Json:
    """The fields of a header that a switch changes. Pins go, too: their names are one vendor's."""
    name, model = lenient.text(update, "to") or header["agent"], lenient.text(update, "model")
    return {field: empty[field] for field in OF_THE_AGENT} | {
        "agent": name,
        "argv": lenient.texts(update, "argv"),
        "process": {"state": "absent", "name": name},
        "wanted": {"model": model} if model else {},
    }
