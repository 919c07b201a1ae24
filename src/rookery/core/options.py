"""Modes, models and effort as one list of options, whichever of three ways an agent offers them
(row M1)."""

from rookery.core import loose
from rookery.core.events import Json

# An option: {id, name, category, value, choices: [{value, name, description}], via}.
# `via` says how it is set: "config" (session/set_config_option), "mode" (session/set_mode) or
# "model" (session/set_model, which only acknowledges).


def offered(offers: Json) -> list[Json]:
    """The one list: config options first; session modes and legacy models only where those lack
    them."""
    options = [_from_config(item) for item in loose.mappings(offers, "configOptions")]
    categories = {option["category"] for option in options}
    modes = loose.mapping(offers, "modes")
    if "mode" not in categories and modes:
        options.append(_from_modes(modes))
    models = loose.mapping(offers, "models")
    if "model" not in categories and models:
        options.append(_from_models(models))
    return options


def value_of(options: list[Json], category: str) -> str:
    """The current value of the first option of a category, or ""."""
    for option in options:
        if option["category"] == category and isinstance(option["value"], str):
            return option["value"]
    return ""


def _from_config(item: Json) -> Json:
    value = item.get("currentValue")
    return {
        "id": loose.text(item, "id"),
        "name": loose.text(item, "name") or loose.text(item, "id"),
        "category": loose.text(item, "category"),
        "value": value if isinstance(value, str | bool) else None,
        "choices": _choices(item),
        "via": "config",
    }


def _choices(item: Json) -> list[Json]:
    """Choices may be grouped one level deep; a group's choices keep their place in the order."""
    found: list[Json] = []
    for entry in loose.mappings(item, "options"):
        inner = list(loose.mappings(entry, "options"))
        found.extend(_choice(each, "value") for each in inner or [entry])
    return found


def _choice(entry: Json, key: str) -> Json:
    value = loose.text(entry, key)
    return {
        "value": value,
        "name": loose.text(entry, "name") or value,
        "description": loose.text(entry, "description"),
    }


def _from_modes(modes: Json) -> Json:
    return {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "value": loose.text(modes, "currentModeId") or None,
        "choices": [_choice(entry, "id") for entry in loose.mappings(modes, "availableModes")],
        "via": "mode",
    }


def _from_models(models: Json) -> Json:
    return {
        "id": "model",
        "name": "Model",
        "category": "model",
        "value": loose.text(models, "currentModelId") or None,
        "choices": [
            _choice(entry, "modelId") for entry in loose.mappings(models, "availableModels")
        ],
        "via": "model",
    }
