"""Makes a history acceptable to every provider, whatever its model produced.

`Answer` reads the calls of a new answer: each gets an id of its own, and a decorated name
(`functions.terminal`) becomes the tool that is meant. `Repair` goes over all that is sent, also
what an earlier build stored:

1. Names of tools and ids of calls are legal, and no id is used twice. 2. The arguments of a call
are an object; anything else becomes `{}`. 3. Every call has one result, right after it; a result
without its call is left out. 4. An answer without text and calls is left out, and so is text that
is blank.

Written for openhands-sdk 1.58, which sends back what came. Unnecessary once it does not."""

import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Self

from openhands.sdk import Message, TextContent
from openhands.sdk.llm import MessageToolCall

ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")
LONGEST_NAME = 64
UNNAMED = "unnamed"
NO_RESULT = "This call has no result: the turn ended before it ran."
BLANK = "(empty)"


class Answer:
    """Reads the calls of one answer, in chunks or as a whole."""

    def __init__(self, tools: Collection[str], used: Iterable[str]) -> None:
        self._tools = tools
        self._used = set(used)

    def again(self) -> Self:
        """Return a fresh reader, for another attempt, or for the whole answer after its chunks."""
        return type(self)(self._tools, self._used)

    def id(self, given: str) -> str:
        made = _new_id(given, self._used)
        self._used.add(made)
        return made

    def name(self, given: str) -> str:
        """Return the tool that is meant; else the given name: the SDK reports the error."""
        if given in self._tools:
            return given
        meant = ILLEGAL.sub("", re.split(r"[.:/]", given.strip())[-1])
        known = {tool.casefold(): tool for tool in self._tools}
        return known.get(meant.casefold(), given) or UNNAMED


class Repair:
    """Repairs a history by message, tracking the ids used and the calls left open."""

    def __init__(self) -> None:
        self.used = set[str]()
        self._waiting: list[tuple[str, str, str]] = []
        """The id that came, the one that is sent, the tool's name."""

    def copy(self) -> "Repair":
        other = Repair()
        other.used, other._waiting = set(self.used), list(self._waiting)
        return other

    def feed(self, messages: Sequence[Message], *, last: bool) -> list[Message]:
        """Repair messages. `last`: nothing follows, so each call must have its result."""
        made: list[Message] = []
        for message in messages:
            if message.role == "tool":
                made += self._result(message)
                continue
            if (kept := _without_blanks(message)) is None:
                continue
            made += self._results_left()
            made.append(self._answer(kept) if kept.tool_calls else kept)
        return made + self._results_left() if last else made

    def _answer(self, message: Message) -> Message:
        calls = [self._call(call) for call in message.tool_calls or ()]
        if all(map(_is_same, calls, message.tool_calls or ())):
            return message
        return message.model_copy(update={"tool_calls": calls})

    def _call(self, call: MessageToolCall) -> MessageToolCall:
        changed: dict[str, Any] = {}
        id, name = _new_id(call.id, self.used), legal_name(call.name)
        if id != call.id:
            # The item's own id came with the other: it may be the same one twice, too.
            changed |= {"id": id, "responses_item_id": None}
        if name != call.name:
            changed["name"] = name
        if not _is_object(call.arguments):
            changed["arguments"] = "{}"
        self.used.add(id)
        self._waiting.append((call.id, id, name))
        return call.model_copy(update=changed) if changed else call

    def _result(self, message: Message) -> list[Message]:
        for at, (came, id, name) in enumerate(self._waiting):
            if came == message.tool_call_id:
                del self._waiting[at]
                kept = _without_blanks(message) or message
                if (id, name) == (message.tool_call_id, message.name):
                    return [kept]
                return [kept.model_copy(update={"tool_call_id": id, "name": name})]
        return []

    def _results_left(self) -> list[Message]:
        left, self._waiting = self._waiting, []
        return [
            Message(role="tool", tool_call_id=id, name=name, content=[TextContent(text=NO_RESULT)])
            for _, id, name in left
        ]


def repaired(messages: Sequence[Message]) -> list[Message]:
    return Repair().feed(messages, last=True)


def legal_name(name: str) -> str:
    if 0 < len(name) <= LONGEST_NAME and not ILLEGAL.search(name):
        return name
    return ILLEGAL.sub("_", name).strip("_")[:LONGEST_NAME] or UNNAMED


def ids_in(messages: Iterable[Message]) -> set[str]:
    return {call.id for message in messages for call in message.tool_calls or ()}


def _new_id(given: str, used: Collection[str]) -> str:
    """Return the given id if it is legal and new, else another."""
    if given and not ILLEGAL.search(given) and len(given) <= LONGEST_NAME and given not in used:
        return given
    return f"call_{os.urandom(12).hex()}"


def _is_same(one: object, other: object) -> bool:
    return one is other


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _without_blanks(message: Message) -> Message | None:
    """Return a message without blank parts; None if nothing is left of an answer."""
    parts = [part for part in message.content if not _is_blank(part)]
    if message.role == "assistant" and not parts and not message.tool_calls:
        return None
    if len(parts) == len(message.content):
        return message
    if not parts and message.role != "assistant":
        parts = [TextContent(text=BLANK)]
    return message.model_copy(update={"content": parts})


def _is_blank(part: object) -> bool:
    return isinstance(part, TextContent) and not part.text.strip()
