"""Requests to a model, without a walk that changes nothing.

The model's client checks every field of every message against its type, to convert models, dates
and files. The SDK sends plain JSON; in a long conversation the walk took a third of a prompt's
time, all of it on the event loop.

Made for openai 2.54, which litellm 1.105 calls, and aiohttp 3.14. Unnecessary once that client
leaves plain JSON alone, and aiohttp looks at closed connections less often.
"""

import importlib
from typing import Any

from rookery.agent.sdk_patches import Around, wrap

BULKY = ("messages", "tools")
PLACE = ("openai.resources.chat.completions.completions", "async_maybe_transform")
AGAIN = 60.0
"""Seconds between two looks of aiohttp at connections that it has closed, which it needs for a bug
of Python 3.13.0. Its own 2 wake an idle agent."""


def is_plain(value: object) -> bool:
    """Whether it is JSON already."""
    match value:
        case None | str() | bool() | int() | float():
            return True
        case dict():
            return all(type(key) is str and is_plain(inner) for key, inner in value.items())
        case list():
            return all(map(is_plain, value))
    return False


async def transform(walk: Around, data: Any, expected_type: Any) -> Any:
    plain = {name: data[name] for name in BULKY if _is_list(data, name)}
    rest = {name: value for name, value in data.items() if name not in plain}
    return {**await walk(rest, expected_type), **plain}


def _is_list(data: dict[str, Any], name: str) -> bool:
    found = data.get(name)
    return isinstance(found, list) and is_plain(found)


def install() -> None:
    wrap(importlib.import_module(PLACE[0]), PLACE[1], transform)
    connector: Any = importlib.import_module("aiohttp.connector").TCPConnector
    connector._cleanup_closed_period = AGAIN
