"""A cancel, at every moment of a turn. That it is quick is measured by `make bench`; here it has to
come long before what it cancels would end."""

import asyncio
import os
from pathlib import Path

import pytest

from rookery.agent.scripted.server import Asked, ScriptedModel
from rookery.processes import tree
from tests.acp.driving import Agent, Json, statuses
from tests.agent.driving import ALLOW, allow_all, calls, permission, run, status, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def cancelled(agent: Agent, session: str, id: int) -> None:
    agent.notify("session/cancel", sessionId=session)
    async with asyncio.timeout(120):
        assert stop_reason(await agent.answer(id)) == "cancelled"


async def goes_on(agent: Agent, model: ScriptedModel, session: str) -> None:
    """The history is valid: each call that the model sees again has its result."""
    assert stop_reason(await agent.turn(session, [{"text": "went on"}])) == "end_turn"
    assert words(agent.news(session)) == "went on"
    messages: list[Json] = model.asked[-1].body["messages"]
    made = [call["id"] for m in messages for call in m.get("tool_calls") or []]
    assert made == [m["tool_call_id"] for m in messages if m["role"] == "tool"]


async def hung_up(model: ScriptedModel, asked: Asked) -> None:
    """The model's server sees that nobody listens to its answer any more."""
    await asyncio.to_thread(model.wait, 1, lambda each: each is asked and each.ended == "hung up")


async def test_cancel_while_a_command_runs(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Its whole tree is ended, also where it hears no signal, and the call is told as failed."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    os.mkfifo(tmp_path / "pid")
    line = "(trap '' INT TERM; echo $BASHPID > pid; sleep 600 & sleep 600)"
    id = agent.prompt(session, [run(line), {"text": "never"}])
    await status(agent, "in_progress")
    pid = int(await asyncio.to_thread((tmp_path / "pid").read_text))
    family = [row for row in tree.table() if row.pid == pid] + tree.descendants(pid)
    assert family
    await cancelled(agent, session, id)
    updates = agent.news(session)
    assert statuses(updates)[-1] == "failed"
    assert "never" not in words(updates)
    assert not await asyncio.to_thread(tree.wait_gone, family, 10.0)
    await goes_on(agent, model, session)


async def test_a_budget_stops_between_steps(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """The command that runs is finished, and the model is not asked again."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    os.mkfifo(tmp_path / "go")
    id = agent.prompt(session, [run("cat go; echo built"), {"text": "never"}])
    await status(agent, "in_progress")
    asked = len(model.asked)
    agent.notify("session/cancel", sessionId=session, _meta={"rookery": {"by": "budget"}})
    await asyncio.to_thread((tmp_path / "go").write_text, "on")
    async with asyncio.timeout(120):
        assert stop_reason(await agent.answer(id)) == "cancelled"
    updates = agent.news(session)
    assert statuses(updates)[-1] == "completed"
    assert "never" not in words(updates)
    assert len(model.asked) == asked
    await goes_on(agent, model, session)


async def test_cancel_ends_the_call_with_everything_it_started(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """What it put into the background, and into a session of its own; not what an earlier call of
    the same turn left there."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    for name in ("earlier", "near", "far"):
        os.mkfifo(tmp_path / name)
    earlier = "sh -c 'echo $$ > earlier; exec sleep 600' >/dev/null 2>&1 &"
    line = "sh -c 'echo $$ > near; exec sleep 611' & "
    line += "(env -i setsid sh -c 'echo $$ > far; exec sleep 611' &); sleep 612"
    id = agent.prompt(session, [run(earlier), run(line), {"text": "never"}])
    pids = []
    for name in ("earlier", "near", "far"):
        if name != "far":
            await status(agent, "in_progress")
        pids.append(int(await asyncio.to_thread((tmp_path / name).read_text)))
    stays, *goes = ([row for row in tree.table() if row.pid == pid] for pid in pids)
    assert all((stays, *goes))
    await cancelled(agent, session, id)
    assert not await asyncio.to_thread(tree.wait_gone, [*goes[0], *goes[1]], 10.0)
    assert tree.still_alive(stays)
    await goes_on(agent, model, session)
    await agent.call("session/close", sessionId=session)
    assert not await asyncio.to_thread(tree.wait_gone, stays, 10.0)


async def test_cancel_while_the_model_speaks(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """And its server sees that nobody listens any more."""
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [{"text": "word " * 600, "every": 1}])
    await agent.until(lambda line: "agent_message_chunk" in str(line))
    asked = model.asked[-1]
    await cancelled(agent, session, id)
    await hung_up(model, asked)
    await goes_on(agent, model, session)


async def test_cancel_before_the_first_word(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    for _ in range(5):
        count = len(model.asked)
        id = agent.prompt(session, [{"text": "never", "delay": 600}])
        asked = (await asyncio.to_thread(model.wait, count + 1))[count]
        await cancelled(agent, session, id)
        await hung_up(model, asked)
    await goes_on(agent, model, session)


async def test_cancel_right_after_the_prompt(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Also where the session's shell and servers are not even there yet."""
    session = await agent.new(str(tmp_path))
    for _ in range(3):
        await cancelled(agent, session, agent.prompt(session, [{"text": "never", "delay": 600}]))
    await goes_on(agent, model, session)


@pytest.mark.parametrize("late", [None, ALLOW], ids=["never answered", "allowed too late"])
async def test_cancel_while_a_permission_is_open(
    agent: Agent, model: ScriptedModel, tmp_path: Path, late: Json | None
) -> None:
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [run("touch done"), {"text": "never"}])
    asked = await permission(agent)
    await cancelled(agent, session, id)
    if late is not None:
        agent.send(id=asked["id"], result=late)
    assert [call["status"] for call in calls(agent.news(session))] == ["failed"]
    await goes_on(agent, model, session)
    assert not (tmp_path / "done").exists()


async def test_cancel_takes_the_steered_prompt_along(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    first = agent.prompt(session, [{"text": "word " * 600, "every": 1}])
    await agent.until(lambda line: "agent_message_chunk" in str(line))
    second = agent.prompt(session, "and this")
    await agent.call("session/list")
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(first)) == "cancelled"
    assert stop_reason(await agent.answer(second)) == "cancelled"


async def test_other_sessions_are_served_during_a_command(agent: Agent, tmp_path: Path) -> None:
    """The ancestor's server stood still while a command ran."""
    allow_all(agent)
    session, other = await agent.new(str(tmp_path)), await agent.new(str(tmp_path))
    id = agent.prompt(session, [run("sleep 600")])
    await status(agent, "in_progress")
    assert "sessions" in await agent.call("session/list")
    assert stop_reason(await agent.turn(other, [run("echo hi"), {"text": "ok"}])) == "end_turn"
    await cancelled(agent, session, id)


async def test_cancel_ends_a_sub_agent_too(agent: Agent, tmp_path: Path) -> None:
    """The command of an agent that was started by the agent, and that agent."""
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
    os.mkfifo(tmp_path / "pid")
    task = '{"play": [' + '{"call": {"name": "terminal", "arguments": {"command": '
    task += '"echo $$ > pid; exec sleep 600"}}}]}'
    arguments = {"prompt": task, "subagent_type": "bash-runner", "description": "below"}
    id = agent.prompt(session, [{"call": {"name": "task", "arguments": arguments}}])
    reading = asyncio.create_task(asyncio.to_thread((tmp_path / "pid").read_text))
    pid = int(await reading)
    family = [row for row in tree.table() if row.pid == pid]
    await cancelled(agent, session, id)
    ended = [call["status"] for call in calls(agent.news(session))]
    assert ended == ["failed", "failed"], "its own call too"
    assert not await asyncio.to_thread(tree.wait_gone, family, 20.0)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    again = [call["status"] for call in calls(agent.news(session))]
    assert again[0] == "failed"
    assert len(again) == 2
    assert "in_progress" not in again
