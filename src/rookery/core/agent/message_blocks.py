"""Which block a message is written into, and which blocks are removed when an agent retracts a
message."""

from rookery.core.agent.ingest import taken_back
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.tools import calls
from rookery.core.turn import retries
from rookery.core.vendors.profiles import profile_for

THOUGHT = "agent_thought_chunk"
KEPT = 16
"""Blocks of messages that can be taken back: an answer has a few, with thoughts in between."""


def after(header: Header, event: Event) -> Json:
    """Return the changes for a message chunk: it continues the open block while kind and message id
    stay the same and no other block came between."""
    update, opened = event.update, header.open_message
    closed = {"_open": None} if opened else {}
    if lenient.mapping(update, "content").get("type") != "text" or retries.is_own(update):
        return closed
    if is_system_prompt(header, update):
        return closed
    key = key_of(update)
    if taken_back(update):
        gone = blocks_of(header, update)
        left = [each for each in header.message_blocks if each[0] not in gone]
        return closed | ({"_said": left} if gone else {})
    if opened and opened[1:] == key:
        return _thinking_goes_on(header, event)
    opened = [calls.block_id(header, event), *key]
    blocks = [*_of_turn(header), opened][-KEPT:] if key[1] else header.message_blocks
    changes = {"_open": opened} | ({"_said": blocks} if blocks is not header.message_blocks else {})
    return changes | ({"_thinking": [opened[0], event.at, 0]} if key[0] == THOUGHT else {})


def is_system_prompt(header: Header, update: Json) -> bool:
    """Whether a thought is the agent's own system prompt: kept, but not shown."""
    begins = profile_for(header).system_prompt if kind_of(update) == THOUGHT else ""
    text = lenient.text(lenient.mapping(update, "content"), "text") if begins else ""
    return bool(begins) and text.startswith(begins)


def after_compaction(header: Header, event: Event) -> Json:
    """Return the changes for a compaction: its updates and chunks are one block, within a turn."""
    key = lenient.text(event.update, "compactionId")[:200]
    closed: Json = {"_open": None} if header.open_message else {}
    if header.compaction[:1] == [key]:
        return closed
    return closed | {"_compaction": [key, calls.block_id(header, event)]}


def _thinking_goes_on(header: Header, event: Event) -> Json:
    """Count the whole seconds between a thought's first and last chunk."""
    name, began, seconds = header.thinking
    if name != header.open_message[0] or event.at < began + 1000 * (seconds + 1):
        return {}
    return {"_thinking": [name, began, (event.at - began) // 1000]}


def blocks_of(header: Header, update: Json) -> list[str]:
    """Return the blocks of this turn that the message is in."""
    key, opened = key_of(update), [header.open_message] if header.open_message else []
    return list(dict.fromkeys(block for block, *own in [*_of_turn(header), *opened] if own == key))


def key_of(update: Json) -> list[str]:
    return [update["sessionUpdate"], lenient.text(update, "messageId")]


def _of_turn(header: Header) -> list[list[str]]:
    """Return the message blocks of this turn: those of earlier turns cannot be retracted."""
    return [each for each in header.message_blocks if each[0].startswith(f"{header.turn}.")]
