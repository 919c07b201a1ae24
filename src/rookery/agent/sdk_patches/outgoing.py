"""Requests to a model, without a walk that changes nothing.

The model's client holds every field of every message against its type, to write out models, dates
and files. What the SDK sends is plain JSON already; in a long conversation the walk was a third of
what a prompt cost, and held the loop for all of it.

Made for openai 2.54, which litellm 1.105 calls. Needless once that client leaves plain JSON alone.
"""

import importlib
from collections.abc import Awaitable, Callable
from typing import Any

BULKY = ("messages", "tools")
PLACE = ("openai.resources.chat.completions.completions", "async_maybe_transform")
AGAIN = 60.0
"""Seconds between two looks of aiohttp's at connections that it has closed already, where Python
has the mistake that they are for (3.13.0). By itself it takes 2, also while the agent is idle."""

type Transform = Callable[[Any, Any], Awaitable[Any]]


def is_plain(value: object) -> bool:
    """Whether it is JSON as it stands."""
    match value:
        case None | str() | bool() | int() | float():
            return True
        case dict():
            return all(type(key) is str and is_plain(inner) for key, inner in value.items())
        case list():
            return all(map(is_plain, value))
    return False


def without_walk(transform: Transform) -> Transform:
    async def sparing(data: Any, expected_type: Any) -> Any:
        plain = {name: data[name] for name in BULKY if _is_list(data, name)}
        rest = {name: value for name, value in data.items() if name not in plain}
        return {**await transform(rest, expected_type), **plain}

    return sparing


def _is_list(data: dict[str, Any], name: str) -> bool:
    found = data.get(name)
    return isinstance(found, list) and is_plain(found)


def install() -> None:
    """Once is enough. A client that is made otherwise keeps its way."""
    module = importlib.import_module(PLACE[0])
    known = getattr(module, PLACE[1], None)
    if known is not None and not hasattr(known, "__wrapped__"):
        sparing = without_walk(known)
        sparing.__wrapped__ = known  # type: ignore[attr-defined]
        setattr(module, PLACE[1], sparing)
    connector: Any = importlib.import_module("aiohttp.connector").TCPConnector
    if hasattr(connector, "_cleanup_closed_period"):
        connector._cleanup_closed_period = AGAIN
