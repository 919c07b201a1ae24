"""The efforts that a model takes, as far as the client library's list knows."""

from typing import Any

from rookery.agent.conversation.choices import EFFORT_IDS as ALL


def efforts_of(model: str) -> tuple[str, ...]:
    """All of them for a model that the list does not know."""
    found = _listed(model)
    if found is None:
        return ALL
    if not found.get("supports_reasoning"):
        return ALL[:1]
    not_taken = set()
    if found.get("supports_none_reasoning_effort") is False or found.get("thinking_always_on"):
        not_taken.add("none")
    if not found.get("supports_xhigh_reasoning_effort"):
        not_taken.add("xhigh")
    return tuple(effort for effort in ALL if effort not in not_taken)


def _listed(model: str) -> dict[str, Any] | None:
    import litellm

    name = model.removeprefix("litellm_proxy/").removeprefix("openhands/")
    found = litellm.model_cost.get(name) or litellm.model_cost.get(name.partition("/")[2])
    return found if isinstance(found, dict) else None
