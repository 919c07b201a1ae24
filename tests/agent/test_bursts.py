"""Pieces of an answer that came at once are joined: what they say together stays the same."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from rookery.agent.provider import bursts

WORDS = st.text(max_size=3)
CALL = st.builds(
    lambda index, words: {"tool_calls": [{"index": index, "function": {"arguments": words}}]},
    st.integers(0, 1),
    WORDS,
)
BEGUN = st.builds(
    lambda index, name: {
        "tool_calls": [{"index": index, "id": name, "function": {"name": "t", "arguments": ""}}]
    },
    st.integers(0, 1),
    st.sampled_from(["a", "b"]),
)
DELTAS = (
    CALL
    | BEGUN
    | st.builds(lambda words: {"content": words}, WORDS)
    | st.builds(lambda words: {"reasoning_content": words}, WORDS)
    | st.builds(lambda words: {"role": "assistant", "content": words}, WORDS)
    | st.just({"refusal": "no"})
)


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None, **more}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}


def stream(chunks: list[Any], size: int) -> list[Any]:
    data = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks).encode()

    async def read() -> list[Any]:
        async def parts() -> AsyncIterator[bytes]:
            for at in range(0, len(data), size):
                yield data[at : at + size]

        return [event.json() async for event in bursts.events(SSEDecoder(), parts())]

    return asyncio.run(read())


def said(chunks: list[Any]) -> list[tuple[str, str]]:
    """In order: which text or call, and what of it; neighbours together."""
    found: list[tuple[str, str]] = []
    for each in chunks:
        delta = each["choices"][0]["delta"]
        parts = [(name, str(delta[name])) for name in delta if name != "tool_calls"]
        for call in delta.get("tool_calls", []):
            named = "".join(filter(None, (call.get("id"), call["function"].get("name"))))
            parts += [(f"begin {call['index']}", named)] if named else []
            parts.append((f"call {call['index']}", call["function"]["arguments"]))
        for name, words in parts:
            if found and found[-1][0] == name and not name.startswith("begin"):
                found[-1] = name, found[-1][1] + words
            elif words:
                found.append((name, words))
    return found


@given(st.lists(DELTAS, max_size=12), st.integers(1, 4000))
def test_the_same_is_said(deltas: list[dict[str, Any]], size: int) -> None:
    chunks = [chunk(each) for each in deltas]
    whole = [each for each in said(stream(chunks, size)) if each[0] != "role"]
    assert whole == [each for each in said(chunks) if each[0] != "role"]


def test_what_comes_at_once_is_one_piece() -> None:
    begun = {"index": 0, "id": "c", "function": {"name": "t", "arguments": ""}}
    more = [{"index": 0, "function": {"arguments": words}} for words in ("{", '"a"', ": 1}")]
    chunks = [chunk({"tool_calls": [each]}) for each in (begun, *more)]
    ended = chunk({}, finish_reason="tool_calls")
    found = stream([*chunks, ended], 100_000)
    assert len(found) == 2
    assert found[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert found[1] == ended


def test_what_comes_one_by_one_is_not_waited_for() -> None:
    seen: list[str] = []

    async def read() -> None:
        async def parts() -> AsyncIterator[bytes]:
            for word in ("one", "two"):
                yield f"data: {json.dumps(chunk({'content': word}))}\n\n".encode()
                assert seen[-1] == word

        async for event in bursts.events(SSEDecoder(), parts()):
            seen.extend(event.json()["choices"][0]["delta"].values())

    asyncio.run(read())
    assert seen == ["one", "two"]


def test_other_events_are_left_alone() -> None:
    error = {"error": {"message": "x"}}
    usage = {**chunk({"content": "b"}), "usage": {"total_tokens": 1}}
    other = {**chunk({"content": "c"}), "id": "y"}
    given = [chunk({"content": "a"}), usage, other, error]
    assert stream(given, 100_000) == given
