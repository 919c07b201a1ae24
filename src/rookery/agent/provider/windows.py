"""Detects models whose context window is too small, before they are asked or from their errors.
Condensing would not help."""

import json
import re
from collections.abc import Sequence
from typing import Any

from openhands.sdk.event import LLMConvertibleEvent

SMALL = 32_000
"""Tokens; a smaller window gets fewer tools."""
PER_TOKEN = 4
"""Characters, about."""
SURELY = 0.8
"""The count is rough: this share of it must be over the window."""

_SIZE = re.compile(
    r"(?:maximum|max|limit|context (?:length|window|size))\D{0,40}?(\d[\d,]{2,})|> (\d[\d,]{2,})",
    re.IGNORECASE,
)


class TooSmall(Exception):
    """The prompt does not fit the model's window, and cannot be condensed."""

    def __init__(self, needed: int, size: int) -> None:
        self.needed = needed
        self.size = size
        has = f"this model has {size:,}" if size else "this model has fewer"
        limit = f"about {needed:,} tokens, {has}."
        if needed <= size:  # the count is a guess, and the provider knows better
            limit = f"more than this model's {size:,} tokens."
        super().__init__(f"This needs {limit}")


def needed_for(messages: Sequence[Any], tools: Sequence[Any]) -> int:
    """Estimate the tokens of messages and tools."""
    texts = (getattr(part, "text", "") for message in messages for part in message.content)
    calls = (call.arguments for message in messages for call in message.tool_calls or ())
    declared = (json.dumps(tool.to_openai_tool()) for tool in tools)
    return sum(map(len, (*texts, *calls, *declared))) // PER_TOKEN


def least_for(messages: Sequence[Any], tools: Sequence[Any]) -> int:
    """Estimate only what must be sent: the first message, the user's last, the tools."""
    asked = [message for message in messages if message.role == "user"][-1:]
    return needed_for([*messages[:1], *asked], tools)


def size_in(error: BaseException) -> int:
    """Return the window's size as the provider states it in an error; 0 if it does not."""
    match = _SIZE.search(str(error))
    return int((match[1] or match[2]).replace(",", "")) if match else 0


def is_small(size: int | None) -> bool:
    return size is not None and size < SMALL


def check(conversation: Any, llm: Any) -> None:
    """Check the size before a step: the SDK would condense for ever. Raises TooSmall."""
    agent, size = conversation.agent, llm.effective_max_input_tokens
    if size is not None and is_small(size):
        messages = LLMConvertibleEvent.events_to_messages(list(conversation.state.view.events))
        needed = least_for(messages, list(agent.tools_map.values()))
        if needed * SURELY > size:
            raise TooSmall(needed, size)
