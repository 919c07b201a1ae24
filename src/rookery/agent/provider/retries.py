"""Decides whether and when a request to a provider is retried after an error."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FINAL = frozenset({400, 401, 402, 403, 404, 405, 413, 422})
"""Statuses that the same request gets every time."""
EXHAUSTED = (
    *("insufficient_quota", "usage_limit_reached", "exceeded your current quota"),
    *("credit balance is too low", "credit balance too low", "insufficient credits"),
    *("insufficient balance", "payment required", "billing_error", "billing hard limit"),
    *("requires more credits", "budget_exceeded", "budget has been exceeded"),
)
"""Said when an account has no credit left."""
BROKEN_OFF = (
    *("peer closed", "incomplete chunked", "not enough data to satisfy", "server disconnected"),
    *("payload is not completed", "connection reset", "connection closed", "closed connection"),
    "before any terminal event",
)
"""Said when a connection breaks within an answer."""
TOO_LONG = (
    *("context_length_exceeded", "context length exceeded", "contextwindowexceedederror"),
    *("maximum context length", "maximum prompt length", "exceeds maximum context"),
    *("exceeds the context window", "context window exceeds", "exceed context limit"),
    *("exceeds the available context", "exceeded model token limit", "exceeds max length"),
    *("greater than the context length", "context the overflows", "context size has been exceeded"),
    *("loaded with context length", "too large for model", "too long to fit", "too many tokens"),
    *("prompt is too long", "input is too long", "input length exceeds", "string too long"),
    *("input token count", "range of input length", "reduce the length of", "`inputs` tokens"),
    *("request_too_large", "request too large", "body too large", "payload too large"),
)
"""Said when a conversation does not fit the model's window, or what may be sent at once."""
TOO_LONG_TYPES = ("LLMContextWindowExceedError", "ContextWindowExceededError")
AT_ONCE = 0.5
"""Seconds until the first try after a connection that was cut."""
_SAID = re.compile(
    r"""(?:retry|try\ again)\ in\ (?P<words>(?:\d+(?:\.\d+)?\s*(?:ms|h|m|s)\w*\s*)+)
      | "?retryDelay"?\s*:\s*"(?P<field>[\d.]+s)" """,
    re.IGNORECASE | re.VERBOSE,
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        current = original if isinstance(original, BaseException) else current.__cause__


def status_of(error: BaseException) -> int:
    """Return the HTTP status nearest to the provider; 0 if unknown."""
    statuses = [getattr(cause, "status_code", None) for cause in chain(error)]
    return next((status for status in reversed(statuses) if isinstance(status, int)), 0)


def says(error: BaseException, phrases: tuple[str, ...]) -> bool:
    text = " ".join(f"{cause} {getattr(cause, 'code', '')}".lower() for cause in chain(error))
    return any(word in text for word in phrases)


def headers_of(error: BaseException) -> dict[str, str]:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None)
    items = headers.items() if headers is not None and hasattr(headers, "items") else []
    return {str(key).lower().removeprefix("llm_provider-"): str(value) for key, value in items}


def delay_of(error: BaseException) -> float | None:
    """Return the seconds to wait that the provider states, in a header or its message."""
    for cause in chain(error):
        headers = headers_of(cause)
        if (wait := seconds(headers.get("retry-after-ms"))) is not None:
            return wait / 1000
        if (wait := _header(headers.get("retry-after"))) is not None:
            return wait
    for cause in chain(error):
        if match := _SAID.search(str(cause)):
            return duration(match["words"] or match["field"])
    return None


def wait_after(error: BaseException | None, usual: float, *, first: bool) -> float:
    """Return the seconds until the next attempt, and note them on the error for the notice."""
    if error is None:
        return usual
    delay = delay_of(error)
    if delay is None:
        delay = min(usual, AT_ONCE) if first and is_broken_off(error) else usual
    error.retry_in = delay  # type: ignore[attr-defined]
    return delay


def _header(value: str | None) -> float | None:
    """Parse a header with seconds, or an HTTP date."""
    plain = seconds(value)
    if plain is not None or not value:
        return plain
    try:
        when = parsedate_to_datetime(value).astimezone(UTC)
    except (TypeError, ValueError):
        return None
    return max(0.0, round((when - datetime.now(UTC)).total_seconds(), 1))


def is_exhausted(error: BaseException) -> bool:
    """Tell whether no credit is left, rather than too much was asked at once: Gemini words both the
    same, but says when to retry the latter."""
    if status_of(error) == 402:
        return True
    return says(error, EXHAUSTED) and delay_of(error) is None


def is_too_long(error: BaseException) -> bool:
    """Tell whether only a shorter conversation would be accepted: no retry or pause helps."""
    typed = any(type(cause).__name__ in TOO_LONG_TYPES for cause in chain(error))
    stated = status_of(error) == 413 or says(error, TOO_LONG)
    return (typed or stated) and not is_exhausted(error)


def is_broken_off(error: BaseException) -> bool:
    return says(error, BROKEN_OFF)


def is_worth_it(error: BaseException, longest: float) -> bool:
    """Tell whether to retry automatically. A long wait is left to the user."""
    if is_too_long(error) or is_exhausted(error):
        return False
    if status_of(error) in FINAL and not is_broken_off(error):
        return False
    delay = delay_of(error)
    return delay is None or delay <= longest


def seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def duration(value: str) -> float | None:
    """Parse "6m0s", "20ms", or plain seconds; None if it is none of these."""
    plain = seconds(value)
    if plain is not None:
        return plain if plain < 1e8 else None
    parts = _SPAN.findall(value)
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else None
