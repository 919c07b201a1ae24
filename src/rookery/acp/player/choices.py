"""The modes and options that a player offers, and the current choice of each."""

import copy
from contextlib import suppress
from typing import Any

from rookery.wire import choices
from rookery.wire.choices import UnknownChoice
from rookery.wire.params import Json


class Choices:
    """The current choices. `modes` is a list of modes (the first is current) or ACP's own shape, as
    `options` is."""

    def __init__(self, modes: Any, options: list[Json], *, booleans: bool) -> None:
        if isinstance(modes, list):
            modes = {"currentModeId": modes[0]["id"], "availableModes": modes} if modes else None
        self._modes: Json = copy.deepcopy(modes or {})
        self._options = [
            copy.deepcopy(option)
            for option in options
            if booleans or option.get("type") != "boolean"
        ]

    def state(self) -> Json:
        """Return the state for the answers to session/new, load and resume."""
        return choices.state(copy.deepcopy(self._modes), self.options())

    def options(self) -> list[Json]:
        return copy.deepcopy(self._options)

    @property
    def mode(self) -> str | None:
        return self._modes.get("currentModeId")

    def values(self) -> Json:
        return {option["id"]: option["currentValue"] for option in self._options}

    def restore(self, mode: str | None, values: Json) -> None:
        """Restore earlier choices, as far as they are still offered."""
        for id, value in values.items():
            with suppress(UnknownChoice):
                self.set_option(id, value)
        with suppress(UnknownChoice):
            self.set_mode(mode)

    def set_mode(self, mode: str | None) -> list[Json]:
        """Set the mode; return the updates that report it. Raises UnknownChoice."""
        if mode is None or not self._has_mode(mode):
            raise UnknownChoice(f"unknown mode {mode!r}")
        self._modes["currentModeId"] = mode
        for option in self._options:
            if option.get("category") == "mode" and mode in choices.values(option):
                option["currentValue"] = mode
                return [choices.mode_update(mode), choices.options_update(self.options())]
        return [choices.mode_update(mode)]

    def set_option(self, id: str, value: Any) -> list[Json]:
        """Set an option; return the updates that report it. Raises UnknownChoice."""
        option = choices.check(self._options, id, value)
        option["currentValue"] = value
        updates = [choices.options_update(self.options())]
        if option.get("category") == "mode" and self._has_mode(value):
            self._modes["currentModeId"] = value
            updates.append(choices.mode_update(value))
        return updates

    def replace_options(self, options: list[Json]) -> list[Json]:
        self._options = copy.deepcopy(options)
        return [choices.options_update(self.options())]

    def _has_mode(self, mode: str) -> bool:
        return any(each["id"] == mode for each in self._modes.get("availableModes", []))
