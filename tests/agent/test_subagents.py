"""Agents below: what they do is told as it happens, below the call that started them."""

import json
from pathlib import Path

import pytest

from tests.acp.driving import Agent, Json
from tests.agent.driving import calls, run, shown, stop_reason

pytestmark = pytest.mark.asyncio(loop_scope="session")


def task(steps: list[Json], **more: str) -> Json:
    """A turn of the model's in which it gives work to an agent below."""
    prompt = json.dumps({"play": steps})
    arguments = {"prompt": prompt, "subagent_type": "bash-runner", "description": "below", **more}
    return {"call": {"name": "task", "arguments": arguments}}


async def approving(agent: Agent, cwd: Path) -> str:
    session = await agent.new(str(cwd))
    await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
    agent.news()
    return session


async def test_G8_what_its_command_prints_is_told_as_it_comes(agent: Agent, tmp_path: Path) -> None:
    """Before the command ends: it ends when we have seen what it printed."""
    session = await approving(agent, tmp_path)
    waits = run("echo $((6*7)) birds; while [ ! -e go ]; do sleep 0.05; done; echo over")
    id = agent.prompt(session, [task([waits, {"text": "did it"}]), {"text": "ok"}])
    await agent.until(lambda line: "42 birds" in str(line))
    (tmp_path / "go").touch()
    assert stop_reason(await agent.answer(id)) == "end_turn"
    above, below = calls(agent.news(session))
    assert (above["status"], below["status"]) == ("completed", "completed")
    assert "over" in shown(below)


async def test_G8_a_task_that_goes_on_is_watched_again(agent: Agent, tmp_path: Path) -> None:
    """Its calls stand below the call that resumed it, under ids of their own."""
    session = await approving(agent, tmp_path)
    steps = [
        task([run("echo first"), {"text": "one"}]),
        task([run("echo second"), {"text": "two"}], resume="task_00000001"),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    told = calls(updates)
    assert [call["status"] for call in told] == ["completed"] * 4
    start, first, again, second = told
    assert len({call["toolCallId"] for call in told}) == 4
    assert "first" in shown(first)
    assert "second" in shown(second)
    parents = [call["_meta"]["rookery"]["parentToolUseId"] for call in (first, second)]
    assert parents == [start["toolCallId"], again["toolCallId"]]
