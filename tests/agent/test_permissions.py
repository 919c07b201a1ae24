"""What a person is asked, before anything runs, and what each answer does."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json, kinds, statuses
from tests.agent.driving import (
    ALLOW,
    CANCELLED,
    REJECT,
    allow_all,
    answer_all,
    calls,
    edit,
    permission,
    run,
    shown,
    stop_reason,
    tool_of_server,
    words,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

HERE: Json = {"mcpServers": []}


def chosen(option: str, **meta: Any) -> Json:
    outcome: Json = {"outcome": "selected", "optionId": option}
    return {"outcome": outcome | ({"_meta": {"rookery": meta}} if meta else {})}


async def test_the_real_call_is_asked_about_before_it_runs(agent: Agent, tmp_path: Path) -> None:
    """Announced as pending, asked with its own id, title, kind, input and diff, and only then run:
    the ancestor asked about made-up ids, with nothing to see, for what was running already."""
    session = await agent.new(str(tmp_path))
    running = agent.prompt(session, [edit(tmp_path / "a.txt", "new"), {"text": "ok"}])
    asked = (await permission(agent))["params"]
    before = agent.news(session)
    call = asked["toolCall"]
    announced = [u for u in before if u["sessionUpdate"] == "tool_call"]
    assert [u["toolCallId"] for u in announced] == [call["toolCallId"]]
    assert set(statuses(before)) == {"pending"}
    assert call["kind"] == "edit"
    assert "a.txt" in call["title"]
    assert call["rawInput"]["file_text"] == "new"
    assert [part["newText"] for part in call["content"] if part["type"] == "diff"] == ["new"]
    assert [option["kind"] for option in asked["options"]] == [
        *("allow_once", "reject_once", "allow_always", "allow_always"),
    ]
    assert not (tmp_path / "a.txt").exists()
    line = next(line for line in agent.lines if line.get("method") == "session/request_permission")
    agent.send(id=line["id"], result=ALLOW)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert statuses(agent.news(session))[-2:] == ["in_progress", "completed"]
    assert (tmp_path / "a.txt").exists()


async def test_each_action_has_a_request_of_its_own(agent: Agent, tmp_path: Path) -> None:
    """Of two at once the first is rejected, the second allowed; the model is told which."""
    session = await agent.new(str(tmp_path))
    both = {"calls": [edit(tmp_path / name, "x")["call"] for name in ("a", "b")]}
    running = agent.prompt(session, [both, {"text": "ok"}])
    ids = []
    for answer in (REJECT, ALLOW):
        asked = await permission(agent)
        ids.append(asked["params"]["toolCall"]["toolCallId"])
        agent.send(id=asked["id"], result=answer)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert len(set(ids)) == 2
    assert (tmp_path / "b").exists()
    assert not (tmp_path / "a").exists()
    ended = {call["toolCallId"]: call for call in calls(agent.news(session))}
    assert [ended[id]["status"] for id in ids] == ["failed", "completed"]
    assert shown(ended[ids[0]]).endswith("You rejected this.")


async def test_a_rejections_reason_reaches_the_model(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """The model is told why, and goes on."""
    answer_all(agent, chosen("reject", reason="use the other file"))
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, [run("touch done"), {"text": "then not"}])
    assert stop_reason(answer) == "end_turn"
    news = agent.news(session)
    assert words(news) == "then not"
    assert shown(calls(news)[0]).endswith("You rejected this: use the other file")
    assert not (tmp_path / "done").exists()
    told = model.asked[-1].body["messages"][-1]
    assert told["role"] == "tool"
    assert "use the other file" in str(told["content"])


async def test_always_proceed_changes_the_mode(agent: Agent, tmp_path: Path) -> None:
    """One answer allows this and all that follows: the mode, in both of its views."""
    asked = answer_all(agent, chosen("always-approve"))
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("echo 1"), run("echo 2"), {"text": "ok"}])
    updates = agent.news(session)
    assert len(asked) == 1
    assert [call["status"] for call in calls(updates)] == ["completed", "completed"]
    modes = [u["currentModeId"] for u in updates if u["sessionUpdate"] == "current_mode_update"]
    assert modes == ["always-approve"]
    assert "config_option_update" in kinds(updates)


async def test_only_when_risky_asks_about_high_and_unknown_risk(
    agent: Agent, tmp_path: Path
) -> None:
    """Then high and unknown risk is asked about, low is not."""
    asked = answer_all(agent, chosen("risk-based"))
    session = await agent.new(str(tmp_path))
    steps = [run("echo 1", security_risk="LOW"), run("echo 2", security_risk="LOW")]
    steps += [run("echo 3", security_risk="MEDIUM"), run("echo 4", security_risk="HIGH")]
    steps += [run("echo 5"), {"text": "ok"}]
    await agent.turn(session, steps)
    commands = [params["toolCall"]["rawInput"]["command"] for params in asked]
    assert commands == ["echo 1", "echo 4", "echo 5"]
    assert [call["status"] for call in calls(agent.news(session))] == ["completed"] * 5


async def test_a_cancelled_permission_cancels_the_turn(agent: Agent, tmp_path: Path) -> None:
    answer_all(agent, CANCELLED)
    session = await agent.new(str(tmp_path))
    assert stop_reason(await agent.turn(session, [run("touch done")])) == "cancelled"
    assert [call["status"] for call in calls(agent.news(session))] == ["failed"]
    assert stop_reason(await agent.turn(session, "next")) == "end_turn"
    assert not (tmp_path / "done").exists()


NONSENSE: list[Any] = [
    Exception(-32603, "broken client"),
    {"outcome": {"outcome": "selected", "optionId": "forged"}},
    {"outcome": {"optionId": "allow-once"}},
    {"outcome": "allow-once"},
    "allow-once",
    [],
]


@pytest.mark.parametrize("answer", NONSENSE, ids=str)
async def test_an_unclear_answer_leaves_the_action_waiting(
    agent: Agent, tmp_path: Path, answer: Any
) -> None:
    """Nothing is carried out, the turn says that it waits; the next prompt asks again first, and
    what is then allowed is done before the model hears that prompt."""
    answer_all(agent, answer)
    session = await agent.new(str(tmp_path))
    assert stop_reason(await agent.turn(session, [run("touch done"), {"text": "ok"}])) == "end_turn"
    updates = agent.news(session)
    assert "waits for your permission" in words(updates)
    assert [call["status"] for call in calls(updates)] == ["pending"]
    assert not (tmp_path / "done").exists()
    asked = allow_all(agent)
    assert stop_reason(await agent.turn(session, "now then")) == "end_turn"
    assert [params["toolCall"]["rawInput"]["command"] for params in asked] == ["touch done"]
    assert (tmp_path / "done").exists()
    assert words(agent.news(session)).endswith("ok")


async def test_a_loaded_conversation_asks_again(agent: Agent, tmp_path: Path) -> None:
    """Replayed as pending; asked with the next prompt, and still not carried out when rejected."""
    answer_all(agent, "nonsense")
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("touch done"), {"text": "ok"}])
    await agent.call("session/close", sessionId=session)
    agent.news()
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), **HERE)
    assert [call["status"] for call in calls(agent.news(session))] == ["pending"]
    asked = answer_all(agent, REJECT)
    assert stop_reason(await agent.turn(session, "go on")) == "end_turn"
    assert len(asked) == 1
    assert [call["status"] for call in calls(agent.news(session))] == ["failed"]
    assert not (tmp_path / "done").exists()


async def test_a_mode_change_in_mid_turn_applies_to_the_next_action(
    agent: Agent, tmp_path: Path
) -> None:
    """The mode is set while the model speaks: its next action is not asked about any more."""
    session = await agent.new(str(tmp_path))
    slow = run("echo 1") | {"text": "a b c d e f", "every": 0.2}
    running = agent.prompt(session, [slow, {"text": "ok"}])
    await agent.until(lambda line: "agent_message_chunk" in str(line))
    set_mode = {"sessionId": session, "modeId": "always-approve"}
    assert await agent.call("session/set_mode", **set_mode) == {}
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert agent.requests() == []
    assert [call["status"] for call in calls(agent.news(session))] == ["completed"]


async def test_a_sub_agent_asks_through_its_parents_session(agent: Agent, tmp_path: Path) -> None:
    """Through its parent's session, for its own call, below the one that started it."""
    session = await agent.new(str(tmp_path))
    task = json.dumps({"play": [run("touch done"), {"text": "did it"}]})
    arguments = {"prompt": task, "subagent_type": "bash-runner", "description": "below"}
    steps: list[Json] = [{"call": {"name": "task", "arguments": arguments}}, {"text": "ok"}]
    running = agent.prompt(session, steps)
    first = await permission(agent)
    agent.send(id=first["id"], result=ALLOW)
    second = await permission(agent)
    call = second["params"]["toolCall"]
    assert call["rawInput"]["command"] == "touch done"
    assert call["toolCallId"] != first["params"]["toolCall"]["toolCallId"]
    assert not (tmp_path / "done").exists()
    agent.send(id=second["id"], result=ALLOW)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert (tmp_path / "done").exists()
    ended = {each["toolCallId"]: each["status"] for each in calls(agent.news(session))}
    assert ended[call["toolCallId"]] == "completed"
    assert set(ended.values()) == {"completed"}


PLAN = {"command": "plan", "task_list": [{"title": "look", "notes": "", "status": "todo"}]}


async def test_reads_and_plan_updates_are_never_asked(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """Of the session's own directory, in the mode that asks about everything, whatever the model
    says of the risk; a read elsewhere, of Rookery's own files and a write still are."""
    asked = answer_all(agent, REJECT)
    (tmp_path / "a.txt").write_text("seen")
    other = Path("/etc/hostname")
    session = await agent.new(str(tmp_path))
    steps = [
        view(tmp_path / "a.txt", security_risk="HIGH"),
        view(tmp_path),
        {"call": {"name": "task_tracker", "arguments": PLAN}},
        {"call": {"name": "task_tracker", "arguments": {"command": "view"}}},
        view(other),
        view(agent_home / "agent_settings.json"),
        edit(tmp_path / "b.txt", "x"),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    assert [params["toolCall"]["kind"] for params in asked] == ["read", "read", "edit"]
    ended = [call["status"] for call in calls(updates)]
    assert ended == ["completed"] * 4 + ["failed"] * 3
    assert "seen" in shown(calls(updates)[0])
    assert [u["entries"][0]["content"] for u in updates if u["sessionUpdate"] == "plan"][
        -1
    ] == "look"


def view(path: Path, **more: Any) -> Json:
    arguments = {"command": "view", "path": str(path), **more}
    return {"call": {"name": "file_editor", "arguments": arguments}}


READER = """
from mcp.server.fastmcp import FastMCP

server = FastMCP("files")

@server.tool()
def read_file(path: str) -> str:
    return f"read {path}"

server.run()
"""


async def test_an_mcp_tool_that_claims_to_be_a_read_is_asked(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """What it does is known to nobody here."""
    (tmp_path / "server.py").write_text(READER)
    server: Json = {"name": "files", "command": sys.executable, "env": []}
    server |= {"args": [str(tmp_path / "server.py")]}
    asked = allow_all(agent)
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[server])
    session = made["sessionId"]
    name = await tool_of_server(agent, model, session, "read_file")
    call = {"name": name, "arguments": {"path": str(tmp_path / "a.txt")}}
    await agent.turn(session, [{"call": call}, {"text": "ok"}])
    assert len(asked) == 1
