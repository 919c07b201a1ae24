"""Older shapes of `agent_settings.json`, migrated to today's.

- One model under `llm`, beside the rest of an agent: what the OpenHands CLI saves. The rest
  (tools, MCP servers, instructions) is derived at each start and not kept.
- The fields of one model at the top.
"""

from rookery.core.json import Json

PROFILE = "default"
"""The name of its only model."""

MASKED = "**********"
"""What the SDK writes instead of a secret."""

MODEL_FIELDS = ("model", "api_key", "base_url", "timeout")
DERIVED = frozenset({"service_id", "usage_id", "litellm_extra_body", "metadata", "kind"})
"""Fields of the SDK's model that the agent sets at each start."""


def is_old(found: Json) -> bool:
    return "profiles" not in found and ("llm" in found or "model" in found)


def migrated(found: Json) -> Json:
    if isinstance(found.get("llm"), dict):
        profile = model_of(found["llm"])
        rest: Json = {}
    else:
        profile = model_of({key: found[key] for key in MODEL_FIELDS if key in found})
        known = (*MODEL_FIELDS, "condenser", "llm")
        rest = {key: value for key, value in found.items() if key not in known}
    condenser = condenser_of(found.get("condenser"))
    made = {"default": PROFILE, "profiles": {PROFILE: profile}} if profile.get("model") else {}
    return {"profiles": {}, **made, **({"condenser": condenser} if condenser else {}), **rest}


def model_of(llm: Json) -> Json:
    """A saved model of the SDK as a profile, without what is empty, masked or derived."""
    kept = {
        key: value
        for key, value in llm.items()
        if value not in (None, MASKED, [], {}) and key not in DERIVED
    }
    return {**dict.fromkeys(MODEL_FIELDS), **kept}


def condenser_of(value: object) -> Json | None:
    """Without its own model: it is the conversation's, or a profile's."""
    if not isinstance(value, dict):
        return None
    known = ("enabled", "share", "max_size", "keep_first")
    kept = {key: value[key] for key in known if value.get(key) is not None}
    if value.get("kind") == "NoOpCondenser":
        kept["enabled"] = False
    return kept
