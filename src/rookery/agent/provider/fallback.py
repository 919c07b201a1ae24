"""Falling back to another saved model: after which failures, and how they are described."""

from typing import Any, NamedTuple, Protocol

from rookery.agent.provider import retries
from rookery.agent.provider.failures import kind_of
from rookery.agent.provider.retries import chain
from rookery.agent.provider.windows import TooSmall, size_in

WORDS = {
    "context": "cannot hold this conversation",
    "network": "cannot be reached",
    "provider": "fails",
    "quota": "has no quota or credit left",
    "rate_limit": "is rate-limited",
}
"""Failures after which another model is asked."""
OWN_WORDS = WORDS | {
    "auth": "has a key that its provider refuses",
    "forbidden": "may not be used with its key",
    "model": "is not known to its provider",
}
"""Those of a fallback model: the next one is asked after these, too."""
FAILED = frozenset({"LLMError", "APIError", "TransportError"})
"""The SDK's errors, those of the provider's library, and of its connection."""
BUSY = ("overloaded", "over capacity", "at capacity", "high demand")
OVERLOADED = frozenset({503, 529})


class StandIn(NamedTuple):
    """The model that answers instead."""

    name: str
    llm: Any


class Fallbacks(Protocol):
    """The models that a session falls back to."""

    def after(self, name: str, error: BaseException, larger_than: int | None) -> StandIn | None:
        """Return the model to ask after `name` ("": the session's own) failed, and notify the user.
        Its window is larger than `larger_than` tokens, if the conversation did not fit."""

    def used(self, name: str, metrics: Any) -> None:
        """Record the usage of an answer."""


def is_too_long(error: BaseException) -> bool:
    return is_final(error) or kind_of(error) == "context"


def is_final(error: BaseException) -> bool:
    """Tell whether condensing the conversation would not help."""
    return any(isinstance(cause, TooSmall) for cause in chain(error))


def window_in(error: BaseException) -> int:
    """Return the tokens that the conversation had to fit in; 0 if unknown."""
    stated = (each.size if isinstance(each, TooSmall) else size_in(each) for each in chain(error))
    return next(filter(None, stated), 0)


def calls_for_another(error: BaseException, *, own: bool) -> bool:
    """Tell whether to ask another model; not after a bug. `own`: the session's own failed."""
    if is_too_long(error):
        return True
    bases = {base.__name__ for cause in chain(error) for base in type(cause).__mro__}
    return bool(bases & FAILED) and kind_of(error) in (WORDS if own else OWN_WORDS)


def describe_failure(error: BaseException) -> str:
    """Return what is wrong with a model, as a phrase that follows its name."""
    if is_too_long(error):
        return WORDS["context"]
    kind = kind_of(error)
    busy = retries.status_of(error) in OVERLOADED or retries.says(error, BUSY)
    if busy and kind in ("provider", "network"):  # within an answer the status is lost
        return "is overloaded"
    return OWN_WORDS.get(kind, "fails")
