"""Shapes that `agent_settings.json` had elsewhere or before, made into today's.

- One model under `llm`, beside the rest of an agent: what the OpenHands CLI saves. The rest
  (tools, MCP servers, instructions) is derived at each start and not taken over.
- The fields of one model at the top.
"""

from typing import Any

type Json = dict[str, Any]

PROFILE = "default"
"""The name of the one model that there was."""

MASKED = "**********"
"""What the SDK writes for a secret that it was not asked to expose."""

MODEL_FIELDS = ("model", "api_key", "base_url", "timeout")
DERIVED = frozenset({"service_id", "usage_id", "litellm_extra_body", "metadata", "kind"})
"""Of the SDK's model: said by the agent at each start."""


def is_old(found: Json) -> bool:
    return "profiles" not in found and ("llm" in found or "model" in found)


def migrated(found: Json) -> Json:
    """Today's shape."""
    if isinstance(found.get("llm"), dict):
        profile = model_of(found["llm"])
        rest: Json = {}
        condenser = condenser_of(found.get("condenser"))
    else:
        profile = model_of({key: found[key] for key in MODEL_FIELDS if key in found})
        known = (*MODEL_FIELDS, "condenser", "llm")
        rest = {key: value for key, value in found.items() if key not in known}
        condenser = condenser_of(found.get("condenser"))
    made = {"default": PROFILE, "profiles": {PROFILE: profile}} if profile.get("model") else {}
    return {"profiles": {}, **made, **({"condenser": condenser} if condenser else {}), **rest}


def model_of(llm: Json) -> Json:
    """A saved model of the SDK's as a profile: without what is empty, masked or derived."""
    kept = {
        key: value
        for key, value in llm.items()
        if value not in (None, MASKED, [], {}) and key not in DERIVED
    }
    return {**dict.fromkeys(MODEL_FIELDS), **kept}


def condenser_of(value: object) -> Json | None:
    """Its own model is left out: it is the conversation's, or a profile's."""
    if not isinstance(value, dict):
        return None
    known = ("enabled", "max_size", "keep_first")
    kept = {key: value[key] for key in known if value.get(key) is not None}
    if value.get("kind") == "NoOpCondenser":
        kept["enabled"] = False
    return kept
