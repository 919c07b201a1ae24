"""Whether and when a provider is asked again after an error."""

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
    """An error and what it came from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        current = original if isinstance(original, BaseException) else current.__cause__


def status_of(error: BaseException) -> int:
    """The HTTP status nearest to the provider; 0: unknown."""
    found = [getattr(cause, "status_code", None) for cause in chain(error)]
    return next((status for status in reversed(found) if isinstance(status, int)), 0)


def says(error: BaseException, words: tuple[str, ...]) -> bool:
    text = " ".join(f"{cause} {getattr(cause, 'code', '')}".lower() for cause in chain(error))
    return any(word in text for word in words)


def headers_of(error: BaseException) -> dict[str, str]:
    response = getattr(error, "response", None)
    found = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None)
    items = found.items() if found is not None and hasattr(found, "items") else []
    return {str(key).lower().removeprefix("llm_provider-"): str(value) for key, value in items}


def delay_of(error: BaseException) -> float | None:
    """Seconds until the provider wants to be asked again, by a header or its words."""
    for cause in chain(error):
        headers = headers_of(cause)
        if (wait := seconds(headers.get("retry-after-ms"))) is not None:
            return wait / 1000
        if (wait := _header(headers.get("retry-after"))) is not None:
            return wait
    for cause in chain(error):
        if found := _SAID.search(str(cause)):
            return duration(found["words"] or found["field"])
    return None


def wait_after(error: BaseException | None, usual: float, *, first: bool) -> float:
    """Seconds until the provider is asked again, noted at the error for the notice."""
    if error is None:
        return usual
    wanted = delay_of(error)
    if wanted is None:
        wanted = min(usual, AT_ONCE) if first and is_broken_off(error) else usual
    error.retry_in = wanted  # type: ignore[attr-defined]
    return wanted


def _header(value: str | None) -> float | None:
    """Seconds, or an HTTP date."""
    plain = seconds(value)
    if plain is not None or not value:
        return plain
    try:
        when = parsedate_to_datetime(value).astimezone(UTC)
    except (TypeError, ValueError):
        return None
    return max(0.0, round((when - datetime.now(UTC)).total_seconds(), 1))


def is_exhausted(error: BaseException) -> bool:
    """Whether no credit is left, rather than too much at once: Gemini has the same words for both,
    but says when to retry the latter."""
    if status_of(error) == 402:
        return True
    return says(error, EXHAUSTED) and delay_of(error) is None


def is_too_long(error: BaseException) -> bool:
    """Whether only a shorter conversation would be taken: neither the same nor a pause helps."""
    typed = any(type(cause).__name__ in TOO_LONG_TYPES for cause in chain(error))
    said = status_of(error) == 413 or says(error, TOO_LONG)
    return (typed or said) and not is_exhausted(error)


def is_broken_off(error: BaseException) -> bool:
    return says(error, BROKEN_OFF)


def is_worth_it(error: BaseException, longest: float) -> bool:
    """Whether to ask again by ourselves. A long wait is left to the user."""
    if is_too_long(error) or is_exhausted(error):
        return False
    if status_of(error) in FINAL and not is_broken_off(error):
        return False
    wanted = delay_of(error)
    return wanted is None or wanted <= longest


def seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def duration(value: str) -> float | None:
    """ "6m0s", "20ms", or plain seconds."""
    plain = seconds(value)
    if plain is not None:
        return plain if plain < 1e8 else None
    found = _SPAN.findall(value)
    return sum(float(number) * _UNITS[unit] for number, unit in found) if found else None
