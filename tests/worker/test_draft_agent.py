"""An agent that speaks only draft 2 is an agent like any other."""

import sys
from typing import Any

import pytest

from rookery.core.ask import from_agent
from tests.worker.aviary import Aviary, Bird, is_agent, is_ask, is_idle, is_text, kinds

DRAFT: dict[str, Any] = {"start": {"draft": True}}
STEPS: list[dict[str, Any]] = [
    {"thought": "hm"},
    {"text": "Hello", "chunks": 3},
    {"plan": ["one", "two"], "done": 1},
    {"diff": "a.txt", "old": "x\n", "new": "y\n"},
    {"command": "echo hi", "output": "hi"},
    {"usage": 5, "size": 100},
]


async def test_a_turn_is_logged_in_the_forms_of_version_1(aviary: Aviary) -> None:
    bird = aviary.hatch(DRAFT)
    events = await bird.turn(STEPS)
    told = [each for each in kinds(events) if not each.startswith("_")]
    wanted = ["agent_thought_chunk", "agent_message_chunk", "plan_update", "tool_call"]
    assert told[:4] == wanted
    assert set(told) == {*wanted, "tool_call_update", "usage_update"}
    diffs = [event.update["content"] for event in events if "oldText" in str(event.update)]
    assert (diffs[0][0]["oldText"], diffs[0][0]["newText"]) == ("x\n", "y\n")
    assert events[-1].update["reason"] == "end_turn"


async def test_an_ask_is_answered(aviary: Aviary) -> None:
    bird = aviary.hatch(DRAFT)
    begun = await bird.prompt([{"ask": "May I?", "allowed": [{"text": "Thanks"}]}])
    ask = (await bird.until(is_ask, begun.seq)).update
    await bird.send(**from_agent(ask).answer, option="allow")
    await bird.until(lambda event: is_text(event, "Thanks"), begun.seq)
    assert (await bird.until(is_idle, begun.seq)).update["reason"] == "end_turn"


async def test_a_cancel_ends_the_turn(aviary: Aviary) -> None:
    bird = aviary.hatch(DRAFT)
    begun = await bird.prompt([{"text": "On my way"}, {"until": "cancel"}])
    await bird.until(is_text, begun.seq)
    await bird.send("cancel")
    assert (await bird.until(is_idle, begun.seq)).update["reason"] == "cancelled"
    assert await bird.reason("next") == "end_turn"


async def test_an_agent_killed_in_a_turn_comes_back_with_its_session(aviary: Aviary) -> None:
    bird = aviary.hatch(DRAFT)
    await bird.turn("one")
    ended = (await bird.turn([{"text": "Gone"}, {"crash": {"signal": "SIGKILL"}}]))[-1].update
    assert ended["reason"] == "agent_exited"
    events = await bird.turn("two")
    ready = [event.update for event in events if is_agent(event, "ready")]
    assert [each["how"] for each in ready] == ["resume"]
    assert events[-1].update["reason"] == "end_turn"


ECHO = """
import json, sys
answer = {"protocolVersion": VERSION, "info": {"name": "two", "version": "1"}, "capabilities": {}}
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer}), flush=True)
"""


@pytest.mark.parametrize("version", [3, 0, "'2'"])
async def test_a_version_that_is_not_spoken_is_named(aviary: Aviary, version: object) -> None:
    code = ECHO.replace("VERSION", str(version))
    bird: Bird = aviary.hatch(argv=[sys.executable, "-c", code])
    ended = (await bird.turn("hi"))[-1].update
    assert "Rookery speaks version 1 of the protocol, and draft 2" in str(ended)
