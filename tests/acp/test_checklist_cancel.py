"""Statements about any agent: cancellation, at every moment of a turn."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from rookery.processes import tree
from tests.acp.doors import Door
from tests.acp.driving import Agent, Json, statuses, texts
from tests.acp.test_checklist_prompt import Terminals, asking
from tests.acp.whole_session import ALLOW, HERE

CANCELLED = {"outcome": {"outcome": "cancelled"}}


async def begun(agent: Agent, session: str, *steps: Json) -> int:
    """A turn that has said `on`."""
    id = agent.prompt(session, [{"text": "on"}, *steps])
    await agent.until(lambda line: '"on"' in str(line).replace("'", '"'))
    return id


async def cancelled(agent: Agent, session: str, id: int) -> None:
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(id))["result"]["stopReason"] == "cancelled"


async def test_cancel_while_the_model_streams(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    id = await begun(agent, session, {"flood": {"chunks": 1_000_000, "every": 0.001}})
    await cancelled(agent, session, id)


async def test_cancel_before_the_first_token(door: Door) -> None:
    """At once, though the model would take 10 minutes; also where the turn has not begun."""
    agent = await door.start()
    session = await agent.begin()
    await agent.turn(session, "hi")
    async with asyncio.timeout(120):
        for _ in range(10):
            id = agent.prompt(session, [{"wait": 600}, {"text": "never"}])
            await cancelled(agent, session, id)
    assert "never" not in texts(agent.news(session))


@pytest.mark.parametrize("when", ["first", "later", "never", "allowed later"])
async def test_cancel_while_a_permission_is_open(door: Door, tmp_path: Path, when: str) -> None:
    """Whatever becomes of the ask: the tool is not carried out."""
    agent = await door.start()
    session = await agent.begin(cwd=str(tmp_path))
    id = agent.prompt(session, [*asking(tmp_path), {"until": "cancel"}])
    ask = await agent.until(lambda line: line.get("method") == "session/request_permission")
    if when == "first":
        agent.send(id=ask["id"], result=CANCELLED)
    await cancelled(agent, session, id)
    if when in ("later", "allowed later"):
        agent.send(id=ask["id"], result=ALLOW if when == "allowed later" else CANCELLED)
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"
    assert not (tmp_path / "done").exists()


async def test_cancel_while_a_tool_runs(door: Door, tmp_path: Path) -> None:
    """The command is ended: a client's terminal by kill and release, the worker's own for real."""
    agent = await door.start()
    terminals = Terminals(agent, wait_for_exit=None)
    session = await agent.begin(cwd=str(tmp_path), terminal=True)
    os.mkfifo(tmp_path / "pid")
    line = "echo $$ > pid; sleep 600"
    id = agent.prompt(session, [{"command": line, "takes": 600}, {"text": "never"}])
    running = await agent.until(lambda line: "'in_progress'" in str(line))
    shell: list[tree.Process] = []
    if door.name == "player":
        await agent.until(lambda line: line.get("method") == "terminal/wait_for_exit")
    elif "terminalId" in str(running):
        pid = int(await asyncio.to_thread((tmp_path / "pid").read_text))
        shell = [row for row in tree.table() if row.pid == pid]
        shell += tree.descendants(pid)
    await cancelled(agent, session, id)
    updates = agent.news(session)
    assert statuses(updates)[-1] == "failed"
    assert "never" not in texts(updates)
    assert not await asyncio.to_thread(tree.wait_gone, shell, 10.0)
    if door.name == "player":
        assert terminals.called == ["create", "wait_for_exit", "kill", "release"]


async def test_no_update_follows_a_cancelled_prompts_answer(door: Door) -> None:
    """What the cancel itself causes is told before: open calls, last words."""
    agent = await door.start()
    session = await agent.begin()
    last: Json = {"until": "cancel", "then": [{"text": "last words"}, {"usage": 7}]}
    opened: Json = {"tool": "T", "toolCallId": "t", "status": "in_progress"}
    id = await begun(agent, session, opened, last)
    await cancelled(agent, session, id)
    updates = agent.news(session)
    assert texts(updates)[-1] == "last words"
    assert statuses(updates) == ["in_progress", "failed"]
    agent.send(id="mark", method="_x/mark", params={})
    await agent.answer("mark")
    await agent.close()
    assert not agent.news(session)


async def test_cancel_with_nothing_to_cancel(door: Door) -> None:
    """Idle, unknown, twice: no answer, and the next prompt is not cancelled."""
    agent = await door.start()
    session = await agent.begin()
    for name in (session, session, "nobody", ""):
        agent.notify("session/cancel", sessionId=name)
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"
    id = await begun(agent, session, {"until": "cancel"})
    agent.notify("session/cancel", sessionId=session)
    await cancelled(agent, session, id)
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"
    await agent.close()
    ids = [line["id"] for line in agent.lines if "id" in line]
    assert len(ids) == len(set(ids)) == len(agent.asked)


@pytest.mark.parametrize("times", [9, 30])
async def test_cancel_racing_with_the_turns_end(door: Door, times: int) -> None:
    """Exactly one answer, either way; and the next turn is untouched."""
    agent = await door.start()
    session = await agent.begin()
    for number in range(times):
        id = agent.prompt(session, [{"text": "on"}, {"wait": 0.002}])
        if number % 3 != 1:
            await agent.until(lambda line: "agent_message_chunk" in str(line))
        if number % 3 == 2:
            await asyncio.sleep(0.002)
        agent.notify("session/cancel", sessionId=session)
        assert (await agent.answer(id))["result"]["stopReason"] in ("cancelled", "end_turn")
        after = await agent.turn(session, [{"text": "next"}])
        assert after["result"]["stopReason"] == "end_turn", number
    await agent.close()
    ids = [line["id"] for line in agent.lines if "id" in line]
    assert len(ids) == len(set(ids)) == len(agent.asked)


async def test_history_is_valid_after_a_cancel(door: Door) -> None:
    """No call stays open, live or in the replay; the next prompt works."""
    agent = await door.start()
    session = await agent.begin()
    opened: Json = {"tool": "T", "toolCallId": "t", "status": "in_progress"}
    await cancelled(agent, session, await begun(agent, session, opened, {"until": "cancel"}))
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"
    agent.news()
    await agent.call("session/load", sessionId=session, **HERE)
    told = agent.news(session)
    assert statuses(told)[-1] == "failed"
    assert texts(told) == ["on", "You said: next"]


async def test_cancel_request_withdraws_a_prompt(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    id = await begun(agent, session, {"until": "cancel"})
    for unknown in ("nothing", 4711, None, [1]):
        agent.notify("$/cancel_request", requestId=unknown)
    agent.send(method="$/cancel_request", params=None)
    assert "sessions" in await agent.call("session/list")
    agent.notify("$/cancel_request", requestId=id)
    answer = await agent.answer(id)
    if "error" in answer:
        assert answer["error"]["code"] == -32800
    else:
        assert answer["result"]["stopReason"] == "cancelled"
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"


async def test_cancel_request_before_the_prompts_first_step(door: Door) -> None:
    """Both in one piece: it is answered all the same."""
    agent = await door.open()
    agent.asked["list"] = "session/list"
    asks: Json = {"jsonrpc": "2.0", "id": "list", "method": "session/list", "params": {}}
    takes_back = {"method": "$/cancel_request", "params": {"requestId": "list"}}
    agent.write(b"".join(json.dumps(each).encode() + b"\n" for each in (asks, takes_back)))
    answer = await agent.answer("list")
    assert "result" in answer or answer["error"]["code"] == -32800
