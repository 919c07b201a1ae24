"""Migrates older formats of `agent_settings.json`.

- One model under `llm`, beside the rest of an agent: the format of the OpenHands CLI. The rest
  (tools, MCP servers, instructions) is derived at each start and not kept.
- The fields of one model at the top level."""

from rookery.core.json import Json

PROFILE = "default"
"""The name of its only model."""

MASKED = "**********"
"""Written by the SDK in place of a secret."""

MODEL_FIELDS = ("model", "api_key", "base_url", "timeout")
DERIVED = frozenset({"service_id", "usage_id", "litellm_extra_body", "metadata", "kind"})
"""Fields of the SDK's model that the agent sets at each start."""


def is_old(saved: Json) -> bool:
    return "profiles" not in saved and ("llm" in saved or "model" in saved)


def migrated(saved: Json) -> Json:
    if isinstance(saved.get("llm"), dict):
        profile = model_of(saved["llm"])
        rest: Json = {}
    else:
        profile = model_of({key: saved[key] for key in MODEL_FIELDS if key in saved})
        known = (*MODEL_FIELDS, "condenser", "llm")
        rest = {key: value for key, value in saved.items() if key not in known}
    condenser = condenser_of(saved.get("condenser"))
    made = {"default": PROFILE, "profiles": {PROFILE: profile}} if profile.get("model") else {}
    return {"profiles": {}, **made, **({"condenser": condenser} if condenser else {}), **rest}


def model_of(llm: Json) -> Json:
    """Convert a model saved by the SDK to a profile, without what is empty, masked or derived."""
    kept = {
        key: value
        for key, value in llm.items()
        if value not in (None, MASKED, [], {}) and key not in DERIVED
    }
    return {**dict.fromkeys(MODEL_FIELDS), **kept}


def condenser_of(value: object) -> Json | None:
    """Convert a condenser, without its own model: it uses the conversation's, or a profile's."""
    if not isinstance(value, dict):
        return None
    known = ("enabled", "share", "max_size", "keep_first")
    kept = {key: value[key] for key in known if value.get(key) is not None}
    if value.get("kind") == "NoOpCondenser":
        kept["enabled"] = False
    return kept
