"""Pieces of an answer that came together, joined: each costs a millisecond on its way to the user,
and a provider, a proxy or a busy machine hands over many at once."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
"""Of an event."""
TEXTS = ("content", "reasoning_content")
CHUNK = '"chat.completion.chunk"'


async def events(decoder: Any, chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """The server-sent events of a stream; of those that came at once, neighbours are joined."""
    rest = b""
    async for chunk in chunks:
        rest += chunk
        end = max(rest.rfind(mark) + len(mark) if mark in rest else 0 for mark in ENDS)
        if end:
            whole, rest = rest[:end], rest[end:]
            for event in joined(decoder.iter_bytes(iter((whole,)))):
                yield event
    for event in decoder.iter_bytes(iter((rest,))):
        yield event


def joined(found: Iterable[Any]) -> Iterator[Any]:
    """Events of the client library; one that was joined is made anew."""
    before: Any = None
    chunk: Any = None
    grew = False
    for event in found:
        piece = _chunk_in(event)
        if before is not None and _join(chunk, piece):
            grew = True
            continue
        if before is not None:
            yield _event(before, chunk) if grew else before
        before, chunk, grew = event, piece, False
    if before is not None:
        yield _event(before, chunk) if grew else before


def _chunk_in(event: Any) -> Any:
    """A piece of an answer by chat completions; None: it is something else."""
    if CHUNK not in event.data:
        return None
    try:
        return json.loads(event.data)
    except (ValueError, RecursionError):
        return None


def _event(like: Any, chunk: Any) -> Any:
    data = json.dumps(chunk, ensure_ascii=False)
    return type(like)(event=like.event, data=data, id=like.id, retry=like.retry)


def _join(chunk: Any, more: Any) -> bool:
    """Add a piece to the one before it. False: nothing was changed."""
    match chunk, more:
        case (
            {"id": one, "choices": [{"delta": {**before}, "finish_reason": None, **first}]},
            {"id": other, "choices": [{"delta": {**after}, "finish_reason": None, **rest}]},
        ) if one == other and first == rest and not more.get("usage"):
            joined = _delta(before, {key: value for key, value in after.items() if value})
            if joined is not None:
                chunk["choices"][0]["delta"] = joined
                return True
    return False


def _delta(before: dict[Any, Any], after: dict[Any, Any]) -> dict[Any, Any] | None:
    """Both together; None: they stay apart, as all do that have more than a text or arguments."""
    match before, after:
        case {"tool_calls": [{**call}], **rest}, {"tool_calls": [{**more}]} if len(after) == 1:
            arguments = _arguments(call, more)
            return None if arguments is None else {**rest, "tool_calls": [arguments]}
    for name in TEXTS:
        known = before.get(name)
        if after.keys() == {name} and isinstance(after[name], str) and isinstance(known, str):
            others = [key for key in before if key not in (name, "role") and before[key]]
            return None if others else {**before, name: known + after[name]}
    return None


def _arguments(call: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any] | None:
    match call, more:
        case (
            {"index": one, "function": {"arguments": str(known), **function}},
            {"index": other, "function": {"arguments": str(added), **rest}},
        ) if one == other and not any([*rest.values(), more.get("id")]):
            return {**call, "function": {**function, "arguments": known + added}}
    return None
