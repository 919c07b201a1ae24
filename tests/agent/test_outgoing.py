"""What goes out to a model is what the SDK and its client would have made of it."""

import asyncio
import copy
import logging
from collections.abc import Iterator
from functools import partial
from operator import is_
from typing import Any

import litellm
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litellm.llms.openai.chat import gpt_transformation
from openai import _base_client
from openai._utils import async_maybe_transform
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openhands.sdk import LLM, Message, TextContent
from openhands.sdk.agent import agent
from openhands.sdk.event import LLMConvertibleEvent, MessageEvent
from openhands.sdk.llm.utils.metrics import Metrics
from openhands.sdk.tool import ToolDefinition
from openhands.sdk.tool.builtins import FinishTool

from rookery.agent.process import sdk_import
from rookery.agent.provider.history import ids_in, repaired
from rookery.agent.provider.written import Written, is_plain
from rookery.agent.scripted.server import serving
from rookery.agent.sdk_patches import outgoing
from rookery.agent.sdk_patches.install import install_rest
from rookery.agent.sdk_patches.llm import RookeryLLM
from tests.agent.test_translate_events import action, done

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
    assert not is_plain([{1: "a"}])
    assert not is_plain(({},))


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


TEXTS = st.sampled_from(["", "Hi", "é😀", '"cache_control"'])
PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": TEXTS},
        optional={"cache_control": st.just({"type": "ephemeral"})},
    )
    | st.just({"type": "image_url", "image_url": "data:image/png;base64,AA=="}),
    max_size=2,
)
IDS = st.sampled_from(["call_1", "call_2__thought__c2ln"])
CALL = st.fixed_dictionaries(
    {
        "id": IDS,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS}),
    }
)
CHAT = st.lists(
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS | PARTS})
    | st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | TEXTS},
        optional={"tool_calls": st.lists(CALL, min_size=1, max_size=2)},
    )
    | st.fixed_dictionaries(
        {"role": st.just("tool"), "content": TEXTS | PARTS, "tool_call_id": IDS, "name": TEXTS},
        optional={"cache_control": st.just({"type": "ephemeral"})},
    ),
    max_size=4,
)


def sent(messages: list[Any], *, quick: bool) -> bytes:
    """By way of litellm and OpenAI's client."""

    def step(place: Any, name: str, ours: Any) -> Any:
        known = getattr(getattr(place, name), "__wrapped__", getattr(place, name))
        return partial(ours, known) if quick else known

    config = gpt_transformation.OpenAIGPTConfig()
    made = step(litellm.utils, "_remove_thought_signatures_from_messages", outgoing.unsign)(
        messages, "__thought__"
    )
    made = step(litellm.main, "validate_and_fix_openai_messages", outgoing.check)(made)
    usual = gpt_transformation.OpenAIGPTConfig
    made = step(usual, "_transform_messages", outgoing.convert)(config, made, "x")
    clean = "remove_cache_control_flag_from_messages_and_tools"
    made, _ = step(usual, clean, outgoing.unflag)(config, "x", made, [])
    body = {"model": "x", "messages": made, "stream": True}
    return bytes(step(_base_client, "openapi_dumps", outgoing.dump)(body))


@given(CHAT)
def test_what_is_written_once_is_sent_as_ever(messages: list[Any]) -> None:
    theirs = sent(copy.deepcopy(messages), quick=False)
    written = [Written(each) for each in copy.deepcopy(messages)]
    for _ in range(2):
        assert sent(list(written), quick=True) == theirs
    assert written == messages, "they are sent again"


# --- messages that are kept from prompt to prompt ------------------------------------------------


def said(text: str, role: str = "user") -> MessageEvent:
    message = Message(role=role, content=[TextContent(text=text)])
    return MessageEvent(source="user" if role == "user" else "agent", llm_message=message)


def growing(kinds: list[str]) -> Iterator[list[LLMConvertibleEvent]]:
    events: list[LLMConvertibleEvent] = [said("You help.", "system")]
    for number, kind in enumerate(kinds):
        call = action(f"c{number}", f"r{number}")
        match kind:
            case "call":
                events += [call, done(call, f"out {number}")]
            case "two calls":
                second = action(f"d{number}", call.llm_response_id)
                events += [call, second, done(call), done(second)]
            case "open call":
                events.append(call)
            case "forgotten":
                del events[1 : len(events) // 2]
            case _:
                events.append(said(f"{kind} {number}", kind))
        yield list(events)


KINDS = st.sampled_from(
    ["user", "user", "assistant", "call", "two calls", "open call", "forgotten"]
)


@given(st.lists(KINDS, max_size=12))
def test_a_kept_prompt_is_the_one_that_the_sdk_makes_and_valid(kinds: list[str]) -> None:
    prompts = outgoing.Prompts()
    for events in growing(kinds):
        made = LLMConvertibleEvent.events_to_messages(events)
        assert list(prompts.of(events)) == repaired(made)
        if "open call" not in kinds and "forgotten" not in kinds:
            assert repaired(made) == made


def test_words_that_were_answered_are_not_made_again() -> None:
    """A talk without calls, too. What is not answered yet is made twice: words may be joined to
    it."""
    prompts = outgoing.Prompts()
    made: list[object] = []

    def make(message: Message) -> dict[str, Any]:
        made.append(message)
        return {"role": message.role}

    counts = []
    for events in growing(["user", "assistant"] * 4):
        made.clear()
        prompt = prompts.of(events)
        written = prompts.chat.of(prompt, "how", make)
        counts.append(len(made))
    assert counts == [2, 3, 1, 2, 1, 2, 1, 2]
    assert len(written) == 9
    assert all(map(is_, prompts.chat.of(prompt[:3], "how", make), written))
    assert prompts.chat.of(prompt, "another", make)[0] is not written[0]


@given(st.lists(KINDS, max_size=8))
def test_the_ids_of_a_prompts_calls_are_known(kinds: list[str]) -> None:
    prompts = outgoing.Prompts()
    for events in growing(kinds):
        prompt = prompts.of(events)
        assert ids_in(list(prompt)) <= prompt.ids


@pytest.mark.parametrize(
    "model", ["openai/scripted", "anthropic/claude-sonnet-4-5", "openai/gpt-5"]
)
@pytest.mark.parametrize("subscription", [False, True])
def test_a_request_is_the_sdks_and_leaves_no_cache_mark(model: str, subscription: bool) -> None:
    """Marks for the provider's cache are not in the messages of the next prompt."""
    made = [kind(model=model, api_key="none", usage_id="t") for kind in (LLM, RookeryLLM)]
    for llm in made:
        llm._is_subscription = subscription
    prompts = outgoing.Prompts()
    for events in growing(["user", "call", "user", "user", "two calls", "assistant", "user"]):
        theirs, ours = LLMConvertibleEvent.events_to_messages(events), prompts.of(events)
        before = [each.model_dump() for each in list(ours)]
        plain, quick = (each.format_messages_for_llm(theirs) for each in made)
        assert quick == plain == made[1].format_messages_for_llm(list(ours))
        answers = [each.format_messages_for_responses(theirs) for each in made]
        assert answers[0] == answers[1]
        assert [each.model_dump() for each in list(ours)] == before


def test_debug_log_lines_are_built_only_if_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (events,) = growing(["user"])
    prompt = outgoing.Prompts().of(events)
    monkeypatch.setattr(agent.logger, "level", logging.INFO)
    agent.logger.manager._clear_cache()
    assert prompt[1:] == []
    assert prompt[0].role == "system"
    assert len(prompt[:]) == 2
    monkeypatch.setattr(agent.logger, "level", logging.DEBUG)
    agent.logger.manager._clear_cache()
    assert len(prompt[1:]) == 1


def test_a_tool_is_described_once_and_copies_are_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that a provider's adapter changed is not what the next request has."""
    outgoing.keep_schemas(ToolDefinition)
    tool = FinishTool.create()[0]
    plain = ToolDefinition.to_openai_tool.__wrapped__  # type: ignore[attr-defined]
    described = {risk: plain(tool, risk) for risk in (False, True)}
    for risk in (False, True, False, True):
        ours: Any = tool.to_openai_tool(add_security_risk_prediction=risk)
        assert ours == described[risk]
        ours["function"]["parameters"].clear()
    monkeypatch.setattr(type(tool), "_get_tool_schema", None)
    assert tool.to_openai_tool() == described[False]
    other = tool.model_copy(update={"description": "Another."})
    monkeypatch.undo()
    assert other.to_openai_tool()["function"]["description"] == "Another."


def test_what_was_used_is_copied_apart() -> None:
    metrics = Metrics(model_name="x")
    for number in range(3):
        metrics.add_cost(0.5)
        metrics.add_response_latency(0.1, f"r{number}")
        metrics.add_token_usage(10, 2, 1, 1, 1000, f"r{number}")
    ours, theirs = metrics.deep_copy(), copy.deepcopy(metrics)
    assert ours == theirs
    metrics.add_cost(0.5)
    metrics.add_response_latency(0.1, "r3")
    metrics.add_token_usage(10, 2, 1, 1, 1000, "r3")
    assert ours == theirs
    assert ours != metrics
