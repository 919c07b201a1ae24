"""The price of a model in its profile, `"price": {"input": 3, "output": 15, "cached": 0.3}`, in US
dollars per million tokens: for models that price lists lack or get wrong."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rookery.models import documents

KEY = "price"
PER = 1_000_000
FIELDS = ("input", "output", "cached")
SHAPE = 'must be {"input": 3, "output": 15}: US dollars per million tokens ("cached" is optional)'


class Price(NamedTuple):
    """A price in US dollars per token."""

    input: float
    output: float
    cached: float

    def of(self, prompt: int, completion: int, cached: int) -> float:
        """Return the cost of a call. `cached`: how many of the prompt's tokens came from the
        cache."""
        cached = min(cached, prompt)
        return (prompt - cached) * self.input + cached * self.cached + completion * self.output


def price_in(extras: Mapping[str, Any]) -> Price | None:
    """Return the price in a profile that has been checked; None if it has none."""
    price = extras.get(KEY)
    if not isinstance(price, dict):
        return None
    price = {"cached": price["input"]} | price
    return Price(*(price[name] / PER for name in FIELDS))


def check(value: object, place: str, key: str) -> None:
    """Check the price of a profile. Raises SettingsError."""
    if value is None:
        return
    if not isinstance(value, dict) or not {"input", "output"} <= value.keys() <= set(FIELDS):
        raise documents.refusal(place, key, SHAPE)
    if not all(type(each) in (int, float) and 0 <= each < PER for each in value.values()):
        raise documents.refusal(place, key, SHAPE)
