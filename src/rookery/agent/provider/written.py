"""The messages of a chat as they are sent. A conversation sends all of them with each request, and
they never change: each is built, checked and serialised to JSON once.

`Written` is a message that OpenAI's client sends as it is; others' adapters get a copy, which some
of them change."""

from collections.abc import Callable, Hashable, Iterable
from operator import is_
from typing import Any, TypeGuard

type Json = dict[str, Any]

LEAVES = frozenset({str, int, float, bool, type(None)})
FLAG = "cache_control"
KEYS = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", FLAG}
)
PART = frozenset({"type", "text", FLAG})


class Written(dict[str, Any]):
    """A message with its JSON. It must not be changed."""

    __slots__ = ("checked", "is_flagged", "is_text", "json", "unsigned")

    def __init__(self, message: Json) -> None:
        super().__init__(message)
        self.is_text = _is_text(message) and is_plain(message)
        """It holds nothing but text and calls, as plain JSON."""
        self.is_flagged = FLAG in str(message)
        """For the provider's cache, perhaps."""
        self.checked: Json | None = None
        self.unsigned: tuple[str, Json] | None = None
        self.json: bytes | None = None


class Chat:
    """The messages of one conversation."""

    def __init__(self) -> None:
        self._messages: list[object] = []
        self._written: list[Written] = []
        """What was made of each of them."""
        self._how: Hashable = None

    def of(
        self, messages: Iterable[object], how: Hashable, make: Callable[[Any], Json]
    ) -> list[Written]:
        """Return the messages as sent. `how`: all that `make` depends on besides the message."""
        given = list(messages)
        written = self._written[: len(given)] if how == self._how else []
        same = map(is_, given, self._messages[: len(written)])
        for at in [at for at, is_same in enumerate(same) if not is_same]:
            written[at] = Written(make(given[at]))
        written += [Written(make(message)) for message in given[len(written) :]]
        self._messages, self._written, self._how = given, written, how
        return list(written)


def is_text(message: object) -> TypeGuard[Written]:
    return type(message) is Written and message.is_text


def _is_text(message: Json) -> bool:
    if not message.keys() <= KEYS:
        return False
    content = message.get("content")
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    return all(
        type(part) is dict and part.keys() <= PART and part.get("type") == "text"
        for part in content
    )


def is_plain(value: object) -> bool:
    """Tell whether the value is JSON already."""
    left = [value]
    while left:
        each = left.pop()
        kind = type(each)
        if kind is dict:
            for key, inner in each.items():  # type: ignore[attr-defined]
                if type(key) is not str:
                    return False
                if type(inner) not in LEAVES:
                    left.append(inner)
        elif kind is list:
            left += [inner for inner in each if type(inner) not in LEAVES]  # type: ignore[attr-defined]
        elif kind is Written:
            if not each.is_text:  # type: ignore[attr-defined]
                left.append(dict(each))  # type: ignore[call-overload]
        elif kind not in LEAVES:
            return False
    return True
