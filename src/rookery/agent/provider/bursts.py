"""Joins chunks of an answer that arrived together: each costs a millisecond on its way to the user,
and a provider, a proxy or a busy machine delivers many at once."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
"""The ends of a server-sent event."""
TEXTS = ("content", "reasoning_content")
CHUNK = '"chat.completion.chunk"'


async def events(decoder: Any, chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """Yield the server-sent events of a stream; neighbours that arrived at once are joined."""
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


def joined(stream: Iterable[Any]) -> Iterator[Any]:
    """Join events of the client library; a joined one is built anew."""
    before: Any = None
    chunk: Any = None
    grew = False
    for event in stream:
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
    """Return the event's chunk of a chat completion; None if it is something else."""
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
    """Append a chunk to the one before it. Returns False if nothing was changed."""
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
    """Join two deltas; None: they stay apart, having more than one text or arguments."""
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
