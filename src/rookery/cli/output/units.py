"""Option types for numbers with a unit, such as sizes: 100M."""

import re
from collections.abc import Mapping
from typing import Any, override

import click


class Quantity(click.ParamType[float]):
    """The type of an option for a number with a unit. `like`: how it is written."""

    def __init__(self, name: str, pattern: str, units: Mapping[str, int], like: str) -> None:
        self.name = name
        self._pattern = re.compile(rf"(\d+(?:\.\d+)?)\s*{pattern}", re.IGNORECASE)
        self._units, self._like = units, like

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        match = self._pattern.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a {self._like}.", param, ctx)
        return float(match[1]) * self._units[match[2].lower()]


_BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}

SIZE = Quantity("size", "([KMGT]?)(?:i?B)?", _BYTES, "size like 500K, 100M or 2G")
