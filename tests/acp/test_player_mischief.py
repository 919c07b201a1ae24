"""What the player can provoke, so that the worker's tests can rely on it."""

import asyncio
import json
import os
import signal

import pytest

from tests.acp.conftest import Start
from tests.acp.driving import Json, alive, texts


async def test_crash_after_what_was_said(start: Start) -> None:
    agent = await start()
    session = await agent.begin()
    agent.prompt(session, [{"text": "x" * 500_000}, {"crash": {"code": 7}}])
    with pytest.raises(EOFError):
        await agent.until(lambda _line: False)
    assert len(texts(agent.news())[0]) == 500_000
    assert await agent.process.wait() == 7


async def test_silence(start: Start) -> None:
    agent = await start()
    session = await agent.begin()
    agent.prompt(session, [{"text": "bye"}, {"silence": True}])
    await agent.until(lambda line: "bye" in str(line))
    agent.notify("session/cancel", sessionId=session)
    agent.ask("session/list")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await agent.read()
    assert agent.process.returncode is None


async def test_deaf(start: Start) -> None:
    """A turn that hears no cancel; the next one does."""
    agent = await start()
    session = await agent.begin()
    id = agent.prompt(session, [{"deaf": True}, {"text": "on"}, {"wait": 0.05}])
    await agent.until(lambda line: "on" in str(line))
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(id))["result"] == {"stopReason": "end_turn"}


async def test_own_words_at_a_cancel(start: Start) -> None:
    agent = await start()
    session = await agent.begin()
    steps: list[Json] = [{"text": "on"}, {"until": "cancel", "then": [{"stop": "end_turn"}]}]
    id = agent.prompt(session, steps)
    await agent.until(lambda line: "on" in str(line))
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(id))["result"] == {"stopReason": "end_turn"}


async def test_late(start: Start) -> None:
    agent = await start()
    session = await agent.begin()
    await agent.turn(session, [{"late": [{"text": "late"}, {"usage": 5}]}, {"text": "in time"}])
    assert texts(agent.news()) == ["in time"]
    await agent.until(lambda line: "usage" in str(line))
    assert texts(agent.news()) == ["late"]


async def test_raw(start: Start) -> None:
    """Malformed lines, forged kinds, and a line of 100 MB."""
    agent = await start(strict=False)
    session = await agent.begin()
    params = {"sessionId": "$session", "update": {"sessionUpdate": "_turn"}}
    forged = json.dumps({"method": "session/update", "params": params})
    steps: list[Json] = [
        {"raw": "not JSON"},
        {"raw": {"bytes_hex": "fffe"}},
        {"raw": forged},
        {"raw": {"line": "x" * 1000, "repeat": 100_000}},
        {"raw": {"line": "no newline", "newline": False}},
    ]
    await agent.turn(session, [*steps, {"raw": ""}])
    lengths = [len(line) for line in agent.raw]
    assert 100_000_001 in lengths
    assert b"\xff\xfe\n" in agent.raw
    assert {"sessionUpdate": "_turn"} in agent.news()


@pytest.mark.long
async def test_flood(start: Start) -> None:
    """All of it, numbered, in order, remembered, and cancellable on the way."""
    agent = await start()
    session = await agent.begin()
    await agent.turn(session, [{"flood": 20_000, "size": 30}])
    said = texts(agent.news())
    assert [int(text.split()[0]) for text in said] == list(range(20_000))
    assert {len(text) for text in said} == {30}
    stamp: list[Json] = [{"flood": {"chunks": 10, "stamp": True, "kind": "agent_thought_chunk"}}]
    await agent.turn(session, stamp)
    stamps = [int(text.split()[0]) for text in texts(agent.news(), "agent_thought_chunk")]
    assert stamps == sorted(stamps)
    await agent.call("session/load", sessionId=session, cwd="/tmp", mcpServers=[])
    assert len(texts(agent.news())) == 20_000
    id = agent.prompt(session, [{"flood": 1_000_000}])
    await agent.read()
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("detach", [False, True])
async def test_spawn(start: Start, detach: bool) -> None:
    """A process that outlives the player, until the test ends it."""
    agent = await start()
    session = await agent.begin()
    spawn: list[Json] = [{"spawn": ["sleep", "600"], "detach": detach}, {"text": "$pid"}]
    await agent.turn(session, spawn)
    pid = int(texts(agent.news())[0])
    try:
        assert alive(pid)
        own_group = os.getpgid(pid) != os.getpgid(agent.process.pid)
        assert own_group is detach
        assert await agent.close() == 0
        assert alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_other_calls(start: Start) -> None:
    agent = await start()
    session = await agent.begin()
    agent.answers["_our/method"] = lambda params: params
    steps: list[Json] = [
        {"request": {"method": "_our/method", "params": {"a": 1}}},
        {"notify": {"method": "_our/news", "params": {}}},
        {"repeat": 2, "steps": [{"text": "$answer"}]},
    ]
    await agent.turn(session, steps)
    assert texts(agent.news()) == ['{"a":1}'] * 2
