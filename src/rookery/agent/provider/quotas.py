"""Reads a provider's quotas from its response headers, in the form Rookery's clients take
(core/turn/quota): the window, the share used, when it resets."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, override

from openhands.sdk import LLM
from pydantic import PrivateAttr

from rookery.agent.provider.retries import duration, seconds
from rookery.core.json import Json

_COUNTED = re.compile(
    r"anthropic-ratelimit-(?P<anthropic>[a-z-]+)-limit|x-ratelimit-limit-(?P<openai>[a-z-]+)"
)
_SHARED = re.compile(r"anthropic-ratelimit-unified-(?P<window>[0-9a-z_]+)-utilization")
NAMES = {"5h": "5 h", "7d": "weekly"}

type OnToken = Callable[[Any], Any]


class Quotas:
    """The quotas of one model, as its provider last reported them."""

    def __init__(self) -> None:
        self.windows: list[Json] = []

    def note[Answer](self, answer: Answer) -> Answer:
        if windows := of_response(getattr(answer, "_hidden_params", None)):
            self.windows = windows
        return answer

    def heard(self, on_token: OnToken | None) -> OnToken | None:
        """Note the quotas from a streamed answer's chunks; the whole answer has none."""
        if on_token is None:
            return None
        first = iter((True,))

        def heard(chunk: Any) -> Any:
            return on_token(self.note(chunk) if next(first, False) else chunk)

        return heard


class QuotaLLM(LLM):
    """A model that records its provider's quotas."""

    _quotas: Quotas = PrivateAttr(default_factory=Quotas)

    @property
    def limits(self) -> list[Json]:
        return self._quotas.windows

    @override
    def _aiter_with_idle_timeout(self, stream: Any) -> Any:
        """Note the quotas of a stream: with the Responses API, only it has the headers."""
        return super()._aiter_with_idle_timeout(self._quotas.note(stream))


def of_response(hidden: object) -> list[Json]:
    """Read the quotas from what LiteLLM keeps of a response, or of a chunk of one."""
    headers = hidden.get("additional_headers") if isinstance(hidden, dict) else None
    if not isinstance(headers, Mapping):
        return []
    named = {str(key).lower().removeprefix("llm_provider-"): str(headers[key]) for key in headers}
    return of_headers(named, datetime.now(UTC))


def of_headers(headers: Mapping[str, str], now: datetime) -> list[Json]:
    """Read the quotas from headers, whose names are in lower case."""
    windows: list[Json] = []
    for name, value in headers.items():
        if (match := _COUNTED.fullmatch(name)) and (kind := match["anthropic"] or match["openai"]):
            shape = "anthropic-ratelimit-{0}-{1}" if match["anthropic"] else "x-ratelimit-{1}-{0}"
            left, reset = (headers.get(shape.format(kind, of)) for of in ("remaining", "reset"))
            most, rest = seconds(value), seconds(left)
            if most and rest is not None:
                used = round(max(0.0, 1 - rest / most), 2)
                windows.append(_window(kind.replace("-", " "), used, reset, now))
        elif match := _SHARED.fullmatch(name):
            used_share, window = seconds(value), match["window"]
            if used_share is not None:
                reset = headers.get(f"anthropic-ratelimit-unified-{window}-reset")
                windows.append(_window(NAMES.get(window, window), used_share, reset, now))
    return windows


def _window(name: str, used: float, reset: str | None, now: datetime) -> Json:
    quota: Json = {"window": name, "used": used}
    if reset is None:
        return quota
    # A time of ISO 8601, seconds of the epoch, or how long it takes: `6m0s`.
    wait = duration(reset) if not re.match(r"\d{4}-", reset) else None
    at = (
        (now + timedelta(seconds=wait)).isoformat(timespec="seconds") if wait is not None else reset
    )
    return quota | {"resetsAt": at}
