"""The modes and options that a player offers: the mode and the option of category "mode" are one
setting with two faces, and must never disagree."""

import copy
from typing import Any

type Json = dict[str, Any]


class UnknownChoice(ValueError):
    """Not among what was offered."""


class Choices:
    """`modes` is a list of modes (the first is current) or ACP's own shape, as `options` is."""

    def __init__(
        self, modes: Any, options: list[Json], *, booleans: bool, models: Json | None = None
    ) -> None:
        if isinstance(modes, list):
            modes = {"currentModeId": modes[0]["id"], "availableModes": modes} if modes else None
        self._modes: Json | None = copy.deepcopy(modes)
        self._models = copy.deepcopy(models)
        self._options = [
            copy.deepcopy(option)
            for option in options
            if booleans or option.get("type") != "boolean"
        ]

    def state(self) -> Json:
        """What the answers to session/new, load and resume say."""
        state: Json = {}
        if self._modes is not None:
            state["modes"] = copy.deepcopy(self._modes)
        if self._models is not None:
            state["models"] = copy.deepcopy(self._models)
        if self._options:
            state["configOptions"] = self.options()
        return state

    def options(self) -> list[Json]:
        return copy.deepcopy(self._options)

    @property
    def mode(self) -> str | None:
        return None if self._modes is None else self._modes["currentModeId"]

    def values(self) -> Json:
        return {option["id"]: option["currentValue"] for option in self._options}

    def restore(self, mode: str | None, values: Json) -> None:
        """What was chosen before; choices that are offered no more are forgotten."""
        for id, value in values.items():
            if any(option["id"] == id and value in _values(option) for option in self._options):
                self.set_option(id, value)
        if mode is not None and mode in self._mode_ids():
            self.set_mode(mode)

    def set_mode(self, mode: str) -> list[Json]:
        """Returns the updates that tell it."""
        if self._modes is None or mode not in self._mode_ids():
            raise UnknownChoice(f"unknown mode {mode!r}")
        self._modes["currentModeId"] = mode
        updates: list[Json] = [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]
        for option in self._options:
            if option.get("category") == "mode" and mode in _values(option):
                option["currentValue"] = mode
                updates.append(self.options_update())
        return updates

    def set_model(self, model: str) -> None:
        known = self._models["availableModels"] if self._models is not None else []
        if self._models is None or model not in [entry["modelId"] for entry in known]:
            raise UnknownChoice(f"unknown model {model!r}")
        self._models["currentModelId"] = model

    def set_option(self, id: str, value: Any) -> list[Json]:
        """Returns the updates that tell it, beside the answer with the complete list."""
        option = next((option for option in self._options if option["id"] == id), None)
        if option is None:
            raise UnknownChoice(f"unknown option {id!r}")
        if value not in _values(option):
            raise UnknownChoice(f"option {id!r} has no value {value!r}")
        option["currentValue"] = value
        updates = [self.options_update()]
        if option.get("category") == "mode" and self._modes and value in self._mode_ids():
            self._modes["currentModeId"] = value
            updates.append({"sessionUpdate": "current_mode_update", "currentModeId": value})
        return updates

    def replace_options(self, options: list[Json]) -> list[Json]:
        self._options = copy.deepcopy(options)
        return [self.options_update()]

    def options_update(self) -> Json:
        return {"sessionUpdate": "config_option_update", "configOptions": self.options()}

    def _mode_ids(self) -> list[str]:
        return [] if self._modes is None else [mode["id"] for mode in self._modes["availableModes"]]


def _values(option: Json) -> list[Any]:
    if option.get("type") == "boolean":
        return [True, False]
    values: list[Any] = []
    for entry in option.get("options", []):
        inner = entry.get("options") if "group" in entry else [entry]
        values += [choice["value"] for choice in inner]
    return values
