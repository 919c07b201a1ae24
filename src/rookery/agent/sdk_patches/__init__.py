"""Patches of the OpenHands SDK and the libraries below it. Each file names the version it was made
for, the reason, and the upstream change that makes it unnecessary, after which a test fails."""

from collections.abc import Callable
from typing import Any

type Around = Callable[..., Any]
"""Takes the original function, then its arguments."""


def wrap(place: Any, name: str, around: Around) -> None:
    """Call `around` in place of a function. Calling this twice changes nothing, even if another
    wrapper was added in between."""
    original = each = getattr(place, name)
    while each is not None:
        if getattr(each, "around", None) is around:
            return
        each = getattr(each, "__wrapped__", None)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        return around(original, *arguments, **named)

    wrapped.around, wrapped.__wrapped__ = around, original  # type: ignore[attr-defined]
    setattr(place, name, wrapped)
