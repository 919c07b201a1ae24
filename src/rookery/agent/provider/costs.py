"""What an answer cost: what the provider says where it says so, else by the price in the model's
settings, else by the SDK's price list.

Made for openhands-sdk 1.58, whose `Telemetry._compute_cost` knows neither `usage.cost` nor a price
for cached tokens, and for litellm 1.105, which writes its own list's price into the `usage.cost` of
a streamed answer, where nobody could tell it from the provider's word.
"""

from functools import wraps
from typing import Any

import litellm.main as completions
from litellm.responses import streaming_iterator
from openhands.sdk.llm.utils import telemetry

from rookery.models.prices import Price

_compute = telemetry.Telemetry._compute_cost

_prices: dict[tuple[str, float | None, float | None], Price] = {}
"""By what the SDK keeps of a price, and the model's name."""


def know(model: str, price: Price) -> dict[str, float]:
    """From now on. The fields by which the SDK keeps it."""
    _prices[model, price.input, price.output] = price
    return {"input_cost_per_token": price.input, "output_cost_per_token": price.output}


def told(usage: object) -> float | None:
    """What the provider says that it cost: a number, or its parts with their sum."""
    found = getattr(usage, "cost", None)
    if isinstance(found, dict):
        found = found.get("total_cost")
    if isinstance(found, bool) or not isinstance(found, int | float) or not found >= 0:
        return None
    return float(found)


@wraps(_compute)
def cost_of(self: telemetry.Telemetry, resp: Any, provider_info: Any = None) -> float | None:
    usage = telemetry._response_usage(resp)
    said = told(usage)
    if said:
        return said
    key = self.model_name, self.input_cost_per_token, self.output_cost_per_token
    price = _prices.get(key)
    counted = telemetry.normalize_usage(usage)
    if price is not None and counted is not None:
        return price.of(counted.prompt_tokens, counted.completion_tokens, counted.cache_read_tokens)
    if said is not None and self.input_cost_per_token is None:
        return said  # nothing, and no list knows better
    return _compute(self, resp, provider_info)


def install() -> None:
    """From now on. Once is enough; twice does no harm."""
    telemetry.Telemetry._compute_cost = cost_of  # type: ignore[method-assign]
    completions._stamp_streaming_usage_cost = lambda *_, **__: None
    streaming_iterator.stamp_responses_usage_cost = lambda *_, **__: None
