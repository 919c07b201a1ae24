"""What went wrong at the model's, in words that say what to do, and in a form that a client can act
on (row T11)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from rookery.wire.failures import INTERNAL_ERROR, RpcError

type Json = dict[str, Any]

REMEDY = {
    "auth": "Check the key of this model: rookery setup",
    "context": "Shorten it with /condense, or begin anew with /new.",
    "network": "Check the network and the model's base URL, then send the prompt again.",
    "provider": "Send the prompt again, or choose another model with /model.",
    "rate_limit": "Send the prompt again later, or choose another model with /model.",
    "quota": "Raise the limit at the provider, or choose another model with /model.",
}
WORDS = {
    "auth": "The model's provider refused the key.",
    "context": "The conversation is too long for this model.",
    "network": "The model cannot be reached.",
    "provider": "The model's provider failed.",
    "rate_limit": "The model's provider limits how much it is used.",
    "quota": "The account's quota at the model's provider is used up.",
}
DETAIL = 500
"""Characters of the provider's own words."""

_QUOTA = ("insufficient_quota", "usage_limit_reached", "exceeded your current quota")
_NETWORK = (
    *("connection error", "connecterror", "connection refused", "name or service", "timed out"),
    *("nodename nor servname", "temporary failure in name", "cannot connect", "peer closed"),
    *("network is unreachable", "server disconnected", "connection reset", "incomplete chunked"),
)
_KEYS = re.compile(r"\b(sk|pk|key|token)[-_][\w-]{6,}|(Bearer\s+)[\w.-]{6,}", re.IGNORECASE)


def failure_of(error: BaseException) -> RpcError:
    """How a prompt is answered whose run ended with this error."""
    causes = list(_chain(error))
    kind = _kind(causes)
    named = "quota" if kind == "rate_limit" and _says(causes, _QUOTA) else kind
    said = "" if kind == "context" else _said(causes)
    message = f"{WORDS[named]} {REMEDY[named]}" + (f"\n{said}" if said else "")
    data: Json = {"errorKind": kind}
    if kind == "rate_limit":
        data |= reset_of(causes)
    return RpcError(INTERNAL_ERROR, message, data)


def short(error: BaseException | None) -> str:
    """One line about an error, for a notice."""
    if error is None:
        return "no answer"
    causes = list(_chain(error))
    named = _kind(causes)
    return WORDS[named].rstrip(".")


def _chain(error: BaseException) -> Any:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        current = original if isinstance(original, BaseException) else current.__cause__


def _kind(causes: list[BaseException]) -> str:
    names = {base.__name__ for cause in causes for base in type(cause).__mro__}
    if names & {"LLMAuthenticationError", "AuthenticationError", "PermissionDeniedError"}:
        return "auth"
    if names & {"LLMContextWindowExceedError", "ContextWindowExceededError"}:
        return "context"
    if "NoCondensationAvailableException" in names:  # it was too long, and cannot be shortened
        return "context"
    if names & {"LLMRateLimitError", "RateLimitError", "BudgetExceededError"}:
        return "rate_limit"
    if _says(causes, _QUOTA):
        return "rate_limit"
    if names & {"LLMTimeoutError", "Timeout", "APITimeoutError", "APIConnectionError"}:
        return "network"
    if _says(causes, _NETWORK):
        return "network"
    return "provider"


def _says(causes: list[BaseException], words: tuple[str, ...]) -> bool:
    text = " ".join(str(cause).lower() for cause in causes)
    return any(word in text for word in words)


def _said(causes: list[BaseException]) -> str:
    """The provider's own words, without what looks like a key."""
    text = str(causes[-1]) or str(causes[0])
    line = " ".join(text.split())
    return _KEYS.sub("…", line)[:DETAIL]


# ---------------------------------------------------------------- when a limit is lifted


def reset_of(causes: list[BaseException]) -> Json:
    """`resetsAt` or `retryAfter`, as the provider gave it; nothing where it did not."""
    for cause in causes:
        headers = _headers(cause)
        wait = _seconds(headers.get("retry-after"))
        if wait is not None:
            return {"retryAfter": wait}
        when = headers.get("retry-after")
        if when and (at := _http_date(when)):
            return {"resetsAt": at}
        for name, value in headers.items():
            if name.startswith("x-ratelimit-reset") or name.endswith("-reset"):
                wait = _duration(value)
                if wait is not None:
                    at_time = datetime.now(UTC) + timedelta(seconds=wait)
                    return {"resetsAt": at_time.isoformat(timespec="seconds")}
    return {}


def _headers(error: BaseException) -> dict[str, str]:
    response = getattr(error, "response", None)
    found: Any = getattr(response, "headers", None) or getattr(
        error, "litellm_response_headers", None
    )
    if found is None:
        return {}
    items = found.items() if hasattr(found, "items") else []
    return {str(key).lower().removeprefix("llm_provider-"): str(value) for key, value in items}


def _seconds(value: str | None) -> float | None:
    try:
        return float(value) if value else None
    except ValueError:
        return None


def _http_date(value: str) -> str | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(value).astimezone(UTC).isoformat(timespec="seconds")
    except (TypeError, ValueError):
        return None


_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _duration(value: str) -> float | None:
    """ "6m0s", "20ms", or plain seconds."""
    plain = _seconds(value)
    if plain is not None:
        return plain if plain < 1e8 else None
    found = _SPAN.findall(value)
    return sum(float(number) * _UNITS[unit] for number, unit in found) if found else None
