"""Corrects how the SDK counts a model's usage.

The cost of an answer is the one the provider states, else follows from the price in the model's
settings, else from the SDK's price list. The tokens of our own model class count too.

Made for openhands-sdk 1.58, whose `Telemetry._compute_cost` knows neither `usage.cost` nor a price
for cached tokens, and whose `AgentBase.get_all_llms` leaves out subclasses of its model; and for
litellm 1.105, which writes its own list's price into the `usage.cost` of a streamed answer, and
loses an answer whose counts are no counts (text, negative, 1e30). Unnecessary once the SDK reads
`usage.cost` and counts subclasses, and litellm leaves that field alone and counts only what can be
counted."""

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import litellm.main as completions
from litellm.responses import streaming_iterator
from litellm.types.utils import Usage
from openhands.sdk import LLM
from openhands.sdk.agent import AgentBase
from openhands.sdk.llm.utils import telemetry

from rookery.agent.sdk_patches import Around, wrap
from rookery.agent.sdk_patches.lost_events import GEMINI
from rookery.models.prices import Price

ANTHROPIC = "litellm.llms.anthropic.chat.transformation"
COUNTED = re.compile(r"(tokens|Count)$")
MOST_TOKENS = 10**9
"""Above that, a provider's number is a mistake."""

_prices: dict[tuple[str, float | None, float | None], Price] = {}
"""Prices by the model's name and the two prices that the SDK keeps."""


def know(model: str, price: Price) -> dict[str, float]:
    """Remember a model's price. Returns the fields in which the SDK keeps it."""
    _prices[model, price.input, price.output] = price
    return {"input_cost_per_token": price.input, "output_cost_per_token": price.output}


def stated(usage: object) -> float | None:
    """Return the cost that the provider states: a number, or the sum of its parts; else None."""
    cost = getattr(usage, "cost", None)
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not cost >= 0:
        return None
    return float(cost)


def _cost(
    compute: Around, self: telemetry.Telemetry, resp: Any, provider_info: Any = None
) -> float | None:
    usage = telemetry._response_usage(resp)
    cost = stated(usage)
    if cost:
        return cost
    price = _prices.get((self.model_name, self.input_cost_per_token, self.output_cost_per_token))
    counted = telemetry.normalize_usage(usage)
    if price is not None and counted is not None:
        return price.of(counted.prompt_tokens, counted.completion_tokens, counted.cache_read_tokens)
    if cost is not None and self.input_cost_per_token is None:
        return cost  # 0, and no list knows better
    computed: float | None = compute(self, resp, provider_info)
    return computed


def _every_llm(known: Around, agent: AgentBase) -> Iterator[LLM]:
    condenser = getattr(agent, "condenser", None)
    models = {id(llm): llm for llm in (agent.llm, getattr(condenser, "llm", None))}
    yield from (llm for llm in models.values() if isinstance(llm, LLM) and type(llm) is not LLM)
    yield from known(agent)


def _leave_alone(*_: Any, **__: Any) -> None:
    """Do nothing, in place of litellm's own price."""


def countable(usage: Any) -> Any:
    """Return the usage with 0 for anything that is no number of tokens."""
    if isinstance(usage, list):
        return [countable(each) for each in usage]
    if hasattr(usage, "model_dump"):
        usage = usage.model_dump()
    if not isinstance(usage, Mapping):
        return usage
    return {
        key: _count(value) if COUNTED.search(key) else countable(value)
        for key, value in usage.items()
    }


def _count(value: Any) -> int | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and 0 <= value <= MOST_TOKENS
    return int(value) if is_number else 0


def _usage(build: Around, self: Any, *arguments: Any, **named: Any) -> None:
    build(self, *arguments, **countable(named))


def _anthropics(known: Around, self: Any, usage_object: Any, *more: Any, **named: Any) -> Any:
    return known(self, countable(usage_object), *more, **named)


def _geminis(known: Around, completion_response: Any) -> Any:
    usage = countable(completion_response.get("usageMetadata") or {})
    return known(completion_response={**completion_response, "usageMetadata": usage})


def install() -> None:
    wrap(telemetry.Telemetry, "_compute_cost", _cost)
    wrap(AgentBase, "get_all_llms", _every_llm)
    completions._stamp_streaming_usage_cost = _leave_alone
    streaming_iterator.stamp_responses_usage_cost = _leave_alone


def install_rest() -> None:
    """Install the patches that need the libraries of `sdk_import.load_rest`, after it."""
    wrap(Usage, "__init__", _usage)
    wrap(importlib.import_module(ANTHROPIC).AnthropicConfig, "calculate_usage", _anthropics)
    wrap(importlib.import_module(GEMINI).VertexGeminiConfig, "_calculate_usage", _geminis)
