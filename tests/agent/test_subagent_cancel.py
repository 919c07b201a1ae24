"""One sub-agent is cancelled, by an id of its own: its parent is told, and the turn goes on."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.core.json import lenient
from rookery.processes import tree
from tests.acp.driving import Agent, Json
from tests.agent.driving import ALLOW, calls, permission, run, shown, stop_reason, words
from tests.agent.test_cancel import goes_on, hung_up
from tests.agent.test_subagents import approving, task

pytestmark = pytest.mark.asyncio(loop_scope="session")
WHY = "The user cancelled this sub-agent."


def about(line: Json) -> Json:
    """What an update of a call says of the sub-agent that it started."""
    update = lenient.mapping(lenient.mapping(line, "params"), "update")
    meta = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
    return lenient.mapping(meta, "subagent")


async def begun(agent: Agent) -> str:
    """The id of the next sub-agent that begins."""
    told = about(await agent.until(lambda line: bool(about(line))))
    assert told["capabilities"] == {"cancel": {}}
    return str(told["sessionId"])


async def test_its_command_ends_and_its_parent_goes_on(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await approving(agent, tmp_path)
    os.mkfifo(tmp_path / "pid")
    steps = [run("(echo $BASHPID > pid; exec sleep 600)"), {"text": "never"}]
    id = agent.prompt(session, [task(steps), {"text": "went on alone"}])
    child = await begun(agent)
    pid = int(await asyncio.to_thread((tmp_path / "pid").read_text))
    family = [row for row in tree.table() if row.pid == pid]
    assert family
    agent.notify("session/cancel", sessionId=child)
    assert stop_reason(await agent.answer(id)) == "end_turn"
    updates = agent.news(session)
    assert words(updates) == "went on alone"
    above, below = calls(updates)
    assert (above["status"], below["status"]) == ("failed", "failed")
    assert WHY in shown(above)
    assert not await asyncio.to_thread(tree.wait_gone, family, 10.0)
    assert WHY in str(model.asked[-1].body["messages"][-1])
    await goes_on(agent, model, session)


async def test_a_silent_model_is_not_waited_for(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await approving(agent, tmp_path)
    silent = {"text": "Here are some words of mine", "hang": 3}
    id = agent.prompt(session, [task([silent]), {"text": "went on alone"}])
    child = await begun(agent)
    await agent.until(
        lambda line: shown(line.get("params", {}).get("update", {})).startswith("Here are some")
    )
    asked = model.asked[-1]
    agent.notify("session/cancel", sessionId=child)
    assert stop_reason(await agent.answer(id)) == "end_turn"
    await hung_up(model, asked)
    assert WHY in shown(calls(agent.news(session))[0])


async def test_the_other_one_goes_on(agent: Agent, tmp_path: Path) -> None:
    """Two of one answer: the second waits for a file, and is written to the end."""
    session = await approving(agent, tmp_path)
    wait = "while [ ! -e go ]; do sleep 0.05; done; echo over"
    both = [task([run(wait), {"text": word}], description=word)["call"] for word in ("one", "two")]
    id = agent.prompt(session, [{"calls": both}, {"text": "ok"}])
    first, _ = await begun(agent), await begun(agent)
    agent.notify("session/cancel", sessionId=first)
    await agent.until(lambda line: WHY in json.dumps(line))
    (tmp_path / "go").touch()
    assert stop_reason(await agent.answer(id)) == "end_turn"
    above = [each for each in calls(agent.news(session)) if each["name"] == "task"]
    assert [each["status"] for each in above] == ["failed", "completed"]
    assert "two" in shown(above[1])


async def test_what_it_asks_is_withdrawn(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [task([run("touch no")]), {"text": "ok"}])
    start = await permission(agent)
    agent.send(id=start["id"], result=ALLOW)
    child = await begun(agent)
    asked = await permission(agent)
    agent.notify("session/cancel", sessionId=child)
    await agent.until(
        lambda line: (
            line.get("method") == "$/cancel_request" and line["params"]["requestId"] == asked["id"]
        )
    )
    assert stop_reason(await agent.answer(id)) == "end_turn"
    assert not (tmp_path / "no").exists()


async def test_an_id_that_is_over_ends_nothing(agent: Agent, tmp_path: Path) -> None:
    session = await approving(agent, tmp_path)
    id = agent.prompt(session, [task([{"text": "one"}]), run("echo then"), {"text": "ok"}])
    child = await begun(agent)
    await agent.until(lambda line: "echo then" in json.dumps(line))
    agent.notify("session/cancel", sessionId=child)
    assert stop_reason(await agent.answer(id)) == "end_turn"
    assert words(agent.news(session)) == "ok"
