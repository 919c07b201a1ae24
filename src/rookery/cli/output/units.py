"""Sizes and ages as values of options: 100M, 30d."""

import re
from typing import Any, override

import click

UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)


class Size(click.ParamType[float]):
    """Bytes: 500K, 100M, 2G."""

    name = "size"

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = _SIZE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is not a size like 500K, 100M or 2G.", param, ctx)
        return float(found[1]) * UNITS[found[2].upper()]


class Age(click.ParamType[float]):
    """Seconds: 12h, 30d, 8w."""

    name = "age"

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = _AGE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is not a duration like 12h, 30d or 8w.", param, ctx)
        return float(found[1]) * SECONDS[found[2].lower()]
