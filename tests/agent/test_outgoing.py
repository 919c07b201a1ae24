"""What goes out to a model is what its client would have made of it, without its walk."""

import asyncio
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._utils import async_maybe_transform
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openhands.sdk import LLM, Message, TextContent

from rookery.agent.process import sdk_import
from rookery.agent.scripted.server import serving
from rookery.agent.sdk_patches import outgoing
from rookery.agent.sdk_patches.install import install_rest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
MESSAGE = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "name", "refusal", "other"]), JSON
)


def both(body: dict[str, Any]) -> tuple[Any, Any]:
    async def made() -> tuple[Any, Any]:
        plain = await async_maybe_transform(body, CompletionCreateParamsStreaming)
        quick = partial(outgoing.transform, async_maybe_transform)
        return plain, await quick(body, CompletionCreateParamsStreaming)

    return asyncio.run(made())


@given(st.lists(MESSAGE, max_size=3), st.none() | st.lists(MESSAGE, max_size=2))
def test_the_same_goes_out(messages: list[Any], tools: list[Any] | None) -> None:
    theirs, ours = both({"messages": messages, "model": "x", "stream": True, "tools": tools})
    assert ours == theirs


def test_what_is_not_plain_is_written_out() -> None:
    said = ChatCompletionMessage(role="assistant", content="hi")
    theirs, ours = both({"messages": [said], "model": "x", "stream": True})
    assert ours == theirs
    assert ours["messages"][0]["content"] == "hi"
    assert not outgoing.is_plain([{1: "a"}])
    assert not outgoing.is_plain(({},))


@pytest.mark.filterwarnings("ignore")  # of the libraries below, on their own types
def test_the_agents_requests_go_this_way() -> None:
    """The client that the SDK really uses: its walk sees no messages."""
    sdk_import.load_rest()
    install_rest()
    install_rest()
    completions = __import__(outgoing.PLACE[0], fromlist=["x"])
    installed = getattr(completions, outgoing.PLACE[1])
    seen: list[Any] = []

    async def watched(data: Any, expected_type: Any) -> Any:
        seen.append(data)
        return await installed.__wrapped__(data, expected_type)

    setattr(completions, outgoing.PLACE[1], partial(outgoing.transform, watched))
    try:
        with serving({"turns": ["Hello"]}) as model:
            llm = LLM(model="openai/scripted", api_key="none", base_url=model.url, usage_id="t")
            asked = [Message(role="user", content=[TextContent(text="Hi")])]
            answer = asyncio.run(llm.acompletion(asked))
            sent = model.asked[-1].body
    finally:
        setattr(completions, outgoing.PLACE[1], installed)
    assert answer.message.role == "assistant"
    assert "Hi" in str(sent)
    assert seen
    assert "messages" not in seen[0]
