"""The client library that the agent really uses, against the scripted model: what it makes of each
answer. All in one process: the library takes seconds to load."""

import asyncio
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rookery.agent.scripted.script import Script
from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.models.providers import PROVIDERS
from tests.agent.asking import TERMINAL, play

pytestmark = pytest.mark.filterwarnings("ignore")

CALL = {"name": "terminal", "arguments": {"command": "ls"}}


@pytest.fixture(scope="module")
def litellm() -> ModuleType:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

    litellm.suppress_debug_info = True
    return litellm


def ask(litellm: ModuleType, it: ScriptedModel, *turns: Any, **more: Any) -> Any:
    return litellm.completion(
        model="openai/scripted",
        base_url=it.url,
        api_key="sk-made-up",
        messages=[play(*turns)],
        tools=[TERMINAL],
        max_retries=0,
        **more,
    )


def test_a_whole_answer(litellm: ModuleType) -> None:
    turn = {"thought": "Hm", "text": "Yes", "call": CALL, "usage": {"input": 50, "cached": 40}}
    with serving([]) as it:
        found = ask(litellm, it, turn)
    message = found.choices[0].message
    assert (message.content, message.reasoning_content) == ("Yes", "Hm")
    assert json.loads(message.tool_calls[0].function.arguments) == {"command": "ls"}
    assert found.usage.prompt_tokens_details.cached_tokens == 40


async def test_a_stream(litellm: ModuleType) -> None:
    turn = {"thought": "Hm hm", "text": "I look", "call": CALL}
    async with ScriptedModel([]) as it:
        stream = await litellm.acompletion(
            model="openai/scripted",
            base_url=it.url,
            api_key="sk-made-up",
            messages=[play(turn)],
            tools=[TERMINAL],
            stream=True,
            stream_options={"include_usage": True},
            max_retries=0,
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert [delta.content for delta in deltas if delta.content] == ["I ", "look"]
    thoughts = [getattr(delta, "reasoning_content", None) for delta in deltas]
    assert [thought for thought in thoughts if thought] == ["Hm ", "hm"]
    built = litellm.stream_chunk_builder(chunks)
    assert built.choices[0].message.tool_calls[0].function.arguments == '{"command": "ls"}'
    assert built.usage.prompt_tokens == 100


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("auth", "AuthenticationError"),
        ("model", "NotFoundError"),
        ("context", "ContextWindowExceededError"),
        ({"status": 429, "retry_after": 7}, "RateLimitError"),
        ("quota", "RateLimitError"),
        ("server", "InternalServerError"),
        ("overloaded", "ServiceUnavailableError"),
    ],
)
def test_an_error_is_the_one_that_was_meant(litellm: ModuleType, error: Any, kind: str) -> None:
    with serving([]) as it, pytest.raises(getattr(litellm, kind)) as caught:
        ask(litellm, it, {"error": error})
    if kind == "RateLimitError" and isinstance(error, dict):
        assert caught.value.litellm_response_headers["retry-after"] == "7"


def test_a_break_before_the_answer(litellm: ModuleType) -> None:
    with serving([]) as it, pytest.raises(litellm.InternalServerError, match="Connection"):
        ask(litellm, it, {"drop": True})


def test_a_break_within_the_answer(litellm: ModuleType) -> None:
    with serving([]) as it:
        stream = ask(litellm, it, {"text": "a b c", "drop": 1}, stream=True)
        with pytest.raises(litellm.exceptions.MidStreamFallbackError, match="closed"):
            list(stream)


def test_silence_meets_the_clients_time_out(litellm: ModuleType) -> None:
    with serving([]) as it, pytest.raises(litellm.Timeout):
        ask(litellm, it, {"hang": True}, timeout=0.5)


async def test_a_stream_can_be_left(litellm: ModuleType) -> None:
    async with ScriptedModel([]) as it:
        stream = await litellm.acompletion(
            model="openai/scripted",
            base_url=it.url,
            api_key="sk-made-up",
            messages=[play({"text": "word " * 10_000, "every": 0.01})],
            tools=[TERMINAL],
            stream=True,
        )
        reading = asyncio.create_task(_read(stream))
        await asyncio.to_thread(it.wait, 1, lambda asked: asked.sent is not None)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await stream.aclose()
        assert await asyncio.to_thread(it.wait, 1, lambda asked: asked.ended == "hung up")


async def _read(stream: Any) -> None:
    async for _ in stream:
        pass


def test_the_responses_api(litellm: ModuleType) -> None:
    turn = {"thought": "Hm", "text": "Two words", "call": CALL}
    # Of a model that it does not know it makes up the stream itself.
    asked = {"model": "openai/gpt-5", "api_key": "sk-made-up", "input": play(turn)["content"]}
    with serving([]) as it:
        asked["api_base"] = it.url
        whole = litellm.responses(**asked)
        events = list(litellm.responses(**asked, stream=True))
        assert it.asked[0].path == "/v1/responses"
    assert [item.type for item in whole.output] == ["reasoning", "message", "function_call"]
    text = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert text == ["Two ", "words"]


SDK = """
import sys
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.llm.utils.verified_models import VERIFIED_MODELS
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.terminal import TerminalTool
import json
url, cwd = sys.argv[1:]
llm = LLM(model="openai/scripted", api_key="made-up", base_url=url, usage_id="agent")
tools = [Tool(name=FileEditorTool.name), Tool(name=TerminalTool.name)]
agent = Agent(llm=llm, tools=tools)
talk = Conversation(agent=agent, workspace=cwd, visualizer=None)
talk.send_message("Count the birds")
talk.run()
talk.close()
print("\\n" + json.dumps({"status": talk.state.execution_status, "models": VERIFIED_MODELS}))
"""


@pytest.mark.long
def test_the_demo_drives_the_sdk_and_the_offered_models_are_its_own(tmp_path: Path) -> None:
    """In a process of its own: the SDK changes logging and signals of the one it is loaded in."""
    with serving(Script(demo=True, aside=None)) as it:
        done = subprocess.run(
            [sys.executable, "-c", SDK, it.url, str(tmp_path)],
            capture_output=True,
            check=False,
            text=True,
            cwd=tmp_path,
            env={
                **os.environ,
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "OPENHANDS_SUPPRESS_BANNER": "1",
                "HOME": str(tmp_path / "person"),
            },
        )
        calls = [call.name for asked in it.asked for call in asked.turn.calls]
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == "finished"
    assert calls == ["terminal", "file_editor", "terminal", "finish"]
    note = (tmp_path / "rookery-demo.md").read_text()
    assert "Count the birds" in note
    for provider in PROVIDERS:
        for name in provider.models:
            assert name in told["models"][provider.name], f"{provider.name}/{name}"
