"""Turns a model's errors into sentences that tell the user what to do, and into a form that a
client can act on."""

import re
from datetime import UTC, datetime, timedelta

from rookery.agent.provider import retries
from rookery.agent.provider.told import ActionableError
from rookery.agent.provider.windows import TooSmall
from rookery.agent.provider.words import spoken
from rookery.core.json import Json
from rookery.wire.failures import INTERNAL_ERROR, RpcError

REMEDY = {
    "log_in": "Log in again: rookery setup login",
    "auth": "Check the key of this model: rookery setup",
    "forbidden": "Check what this key may use at the provider, or choose another with /model.",
    "model": "Check its name and base URL (rookery setup), or choose another model with /model.",
    "context": "Shorten it with /condense, or start over with /new.",
    "network": "Check the network and the model's base URL, then send the prompt again.",
    "provider": "Send the prompt again, or choose another model with /model.",
    "empty": "Three tries gave none. Send the prompt again, or choose another model with /model.",
    "request": "Undo the last prompt with /rewind, or start over with /new.",
    "rate_limit": "Send the prompt again later, or choose another model with /model.",
    "quota": "Add credit or raise the limit at the provider, or choose another model with /model.",
}
WORDS = {
    "log_in": "The login of this model's subscription is no longer valid.",
    "auth": "The model's provider refused the key.",
    "forbidden": "This key may not use the model.",
    "model": "The model's provider does not have this model.",
    "context": "The conversation is too long for this model.",
    "network": "The model cannot be reached.",
    "provider": "The model's provider failed.",
    "empty": "The model's answer was empty.",
    "request": "The model's provider refused the conversation.",
    "rate_limit": "The model's provider limits the rate of requests.",
    "quota": "The account's quota or credit at the model's provider is used up.",
}
LOG_IN = ("token refresh failed", "subscription login is required")
KINDS = {
    "log_in": "auth",
    "forbidden": "auth",
    "model": "provider",
    "request": "provider",
    "empty": "provider",
    "quota": "rate_limit",
}
"""Kinds of errors that clients do not know, and the ones they are sent instead."""
WINDOW = "Choose a model with a larger window with /model, or enlarge this one at its server."
DETAIL = 500
"""Characters of the provider's own words."""

_STATUSES = {401: "auth", 403: "forbidden", 404: "model"}
_NETWORK = (
    *("connection error", "connecterror", "connection refused", "name or service", "timed out"),
    *("nodename nor servname", "temporary failure in name", "cannot connect", "peer closed"),
    *("network is unreachable", *retries.BROKEN_OFF),
)
_KEYS = re.compile(r"\b(sk|pk|key|token)[-_][\w-]{6,}|(Bearer\s+)[\w.-]{6,}", re.IGNORECASE)


def failure_of(error: BaseException) -> RpcError:
    """Return the reply to a prompt whose run ended with this error."""
    causes = list(retries.chain(error))
    if actionable := next((cause for cause in causes if isinstance(cause, ActionableError)), None):
        return actionable.failure
    if small := next((cause for cause in causes if isinstance(cause, TooSmall)), None):
        return RpcError(INTERNAL_ERROR, f"{small} {WINDOW}", {"errorKind": "context"})
    named = _kind(error, causes)
    kind = KINDS.get(named, named)
    detail = "" if named == "context" else _message(causes)
    message = f"{WORDS[named]} {REMEDY[named]}" + (f"\n{detail}" if detail else "")
    data: Json = {"errorKind": kind}
    if named == "rate_limit":
        data |= reset_of(causes)
    return RpcError(INTERNAL_ERROR, message, data)


def short(error: BaseException | None) -> str:
    """Return one line about an error, for a notice."""
    if error is None:
        return "no answer"
    return WORDS[kind_of(error)].rstrip(".")


def kind_of(error: BaseException) -> str:
    """Return the kind of an error, a key of WORDS."""
    return _kind(error, list(retries.chain(error)))


def _kind(error: BaseException, causes: list[BaseException]) -> str:
    names = {base.__name__ for cause in causes for base in type(cause).__mro__}
    if retries.is_too_long(error):
        return "context"
    if "EmptyAnswer" in names:
        return "empty"
    if retries.is_exhausted(error):
        return "quota"
    if retries.says(error, LOG_IN):
        return "log_in"
    status = retries.status_of(error)
    if status in _STATUSES:
        return _STATUSES[status]
    if names & {"LLMAuthenticationError", "AuthenticationError", "PermissionDeniedError"}:
        return "auth"
    if status == 429 or names & {"LLMRateLimitError", "RateLimitError", "BudgetExceededError"}:
        return "rate_limit"
    if names & {"LLMTimeoutError", "Timeout", "APITimeoutError", "APIConnectionError"}:
        return "network"
    if retries.says(error, _NETWORK):
        return "network"
    if status in retries.FINAL or "LLMBadRequestError" in names:
        return "request"
    # What cannot be condensed is too long, unless the summary's writer failed.
    stuck = "NoCondensationAvailableException" in names and "LLMError" not in names
    return "context" if stuck else "provider"


def _message(causes: list[BaseException]) -> str:
    """Return the provider's own message, without what looks like a key."""
    detail = next(filter(None, (spoken(str(cause)) for cause in reversed(causes))), "")
    return _KEYS.sub("…", detail)[:DETAIL]


def reset_of(causes: list[BaseException]) -> Json:
    """Return when a limit is lifted: `resetsAt` or `retryAfter`, if the provider says."""
    if causes and (wait := retries.delay_of(causes[0])) is not None:
        return {"retryAfter": wait}
    for cause in causes:
        for name, value in retries.headers_of(cause).items():
            is_reset = name.startswith("x-ratelimit-reset") or name.endswith("-reset")
            if is_reset and (wait := retries.duration(value)) is not None:
                at_time = datetime.now(UTC) + timedelta(seconds=wait)
                return {"resetsAt": at_time.isoformat(timespec="seconds")}
    return {}
