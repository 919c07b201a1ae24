"""The modes and options that our own ACP agents offer. The mode and the option of category "mode"
are one setting that a client sees twice."""

from typing import Any

from rookery.wire.params import Json


class UnknownChoice(ValueError):
    """The choice was not among those offered."""


def state(modes: Json | None, options: list[Json]) -> Json:
    """Return the modes and options for the responses to session/new, load, resume and fork."""
    return ({"modes": modes} if modes else {}) | ({"configOptions": options} if options else {})


def mode_update(mode: str) -> Json:
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode}


def options_update(options: list[Json]) -> Json:
    """Return the update that announces the options. `options`: the complete list."""
    return {"sessionUpdate": "config_option_update", "configOptions": options}


def check(options: list[Json], id: str, value: object) -> Json:
    """Return the option that has this value. Raises UnknownChoice."""
    option = next((option for option in options if option["id"] == id), None)
    if option is None:
        raise UnknownChoice(f"unknown option {id!r}")
    known = values(option)
    if value not in known:
        listed = ", ".join(map(str, known))
        raise UnknownChoice(f"unknown {id} {value!r} (choose from: {listed})")
    return option


def values(option: Json) -> list[Any]:
    if option.get("type") == "boolean":
        return [True, False]
    entries = option.get("options", [])
    return [each["value"] for entry in entries for each in entry.get("options", [entry])]
