"""Agents below: what they do is told as it happens, below the call that started them."""

import json
import os
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json, statuses
from tests.agent.driving import (
    ALLOW,
    REJECT,
    allow_all,
    calls,
    permission,
    run,
    shown,
    stop_reason,
    words,
)
from tests.agent.test_cancel import goes_on, hung_up
from tests.core.making import play

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


@pytest.mark.long
async def test_a_sub_agents_command_output_streams(agent: Agent, tmp_path: Path) -> None:
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


async def test_a_resumed_task_is_shown_below_the_call_that_resumed_it(
    agent: Agent, tmp_path: Path
) -> None:
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


def blocks(updates: list[Json]) -> list[Json]:
    """What the calls look like, wherever in a log and whenever they were told."""
    found = [block for block in play(*updates).blocks.values() if block["role"] == "tool"]
    places = {block["id"]: place for place, block in enumerate(found)} | {None: None}
    return [
        {key: value for key, value in block.items() if key not in ("id", "seconds", "since")}
        | {"parent": places[block["parent"]]}
        for block in found
    ]


def lasting(call: Json) -> Json:
    """Without what cancels a sub-agent, which is over."""
    meta = call.get("_meta", {})
    if "subagent" not in meta.get("rookery", {}):
        return call
    assert meta["rookery"].pop("subagent")["capabilities"] == {"cancel": None}
    meta = {key: value for key, value in meta.items() if value}
    return {key: value for key, value in call.items() if key != "_meta" or meta}


async def reloaded(agent: Agent, session: str, cwd: Path) -> list[Json]:
    agent.news()
    await agent.call("session/load", sessionId=session, cwd=str(cwd), mcpServers=[])
    return agent.news(session)


async def test_sub_agents_are_replayed_as_they_were(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Calls, results, words, a failure, one that goes on for another call, two of one answer: the
    same blocks after a load, with the session open, closed and forked. Tasks can go on then."""
    session, since = await approving(agent, tmp_path), len(model.asked)
    view = {"command": "view", "path": str(tmp_path / "none")}
    both = [task([run(f"echo {word}"), {"text": word}])["call"] for word in ("left", "right")]
    steps: list[Json] = [
        task([{"text": "Looking.", **run("echo first")}, {"text": "one"}]),
        task(
            [{"call": {"name": "file_editor", "arguments": view}}, {"text": "two"}],
            subagent_type="general-purpose",
        ),
        {"calls": both},
        task([run("echo again"), {"text": "three"}], resume="task_00000001"),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    live = agent.news(session)
    told = blocks(live)
    assert len(told) == 10
    assert [block["parent"] for block in told] == [None, 0, None, 2, None, None, 4, 5, None, 8]
    assert blocks(await reloaded(agent, session, tmp_path)) == told
    forked = await agent.call("session/fork", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    await agent.call("session/close", sessionId=session)
    again = await reloaded(agent, session, tmp_path)
    assert blocks(again) == told
    assert calls(again) == [lasting(call) for call in calls(live)]
    assert words(again, "user_message_chunk").count("play") == 1 + json.dumps(steps).count("play")
    assert blocks(await reloaded(agent, forked["sessionId"], tmp_path)) == told
    steps = [
        task([run("echo fifth"), {"text": "five"}]),
        task(
            [run("echo later"), {"text": "six"}],
            resume="task_00000002",
            subagent_type="general-purpose",
        ),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    news = blocks(agent.news(session))
    assert [(block["status"], block["parent"]) for block in news] == [
        ("done", None),
        ("done", 0),
        ("done", None),
        ("done", 2),
    ], "a task from before the load goes on"
    bodies = [each.body["messages"] for each in list(model.asked)[since:]]
    [below] = [
        messages
        for messages in bodies
        if messages[-1].get("name") == "terminal" and "later" in str(messages[-1]["content"])
    ]
    tools = [message["name"] for message in below if message["role"] == "tool"]
    assert tools == ["file_editor", "terminal"], "and knows what it did before"
    assert blocks(await reloaded(agent, session, tmp_path)) == blocks(again) + [
        block | {"parent": None if block["parent"] is None else block["parent"] + len(told)}
        for block in news
    ]


async def test_a_pre_tool_hook_guards_sub_agents_too(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """What a `pre_tool_use` hook forbids, no sub-agent does either; its model is told why."""
    (tmp_path / ".rookery").mkdir()
    guard = "grep -q forbidden && { echo not on my watch >&2; exit 2; }; exit 0"
    table = {"pre_tool_use": [{"matcher": "terminal", "hooks": [{"command": guard}]}]}
    (tmp_path / ".rookery" / "hooks.json").write_text(json.dumps(table))
    allow_all(agent)
    session = await approving(agent, tmp_path)
    steps = [run("touch forbidden"), run("touch fine"), {"text": "one of two"}]
    assert stop_reason(await agent.turn(session, [task(steps), {"text": "ok"}])) == "end_turn"
    assert not (tmp_path / "forbidden").exists()
    assert (tmp_path / "fine").exists()
    _, _, refused, done = calls(agent.news(session))
    assert (refused["status"], done["status"]) == ("failed", "completed")
    assert "A hook rejected this: not on my watch" in shown(refused)
    assert "not on my watch" in json.dumps(
        [each.body["messages"] for each in list(model.asked)[-4:]]
    )


async def test_a_sub_agents_call_is_pending_until_granted_and_hears_why_not(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """No `in_progress` before the grant; a rejection's reason reaches the sub-agent's model."""
    session = await agent.new(str(tmp_path))
    steps = [run("touch no"), run("touch yes"), {"text": "done"}]
    running = agent.prompt(session, [task(steps), {"text": "ok"}])
    start = await permission(agent)
    agent.send(id=start["id"], result=ALLOW)
    why = {"_meta": {"rookery": {"reason": "use the other one"}}}
    first = await permission(agent)
    agent.send(id=first["id"], result={"outcome": REJECT["outcome"] | why})
    second = await permission(agent)
    ids = [asked["params"]["toolCall"]["toolCallId"] for asked in (first, second)]
    before = agent.news(session)
    agent.send(id=second["id"], result=ALLOW)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    updates = before + agent.news(session)
    assert [statuses(updates, id) for id in ids] == [
        ["pending", "failed"],
        ["pending", "in_progress", "completed"],
    ]
    assert "in_progress" not in statuses(before, ids[1])
    told = json.dumps([each.body["messages"] for each in list(model.asked)[-4:]])
    assert "Their reason: use the other one" in told
    assert sorted(os.listdir(tmp_path)) == ["yes"]


async def test_a_sub_agents_words_stream_and_a_cancel_ends_its_wait(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Its model says three words and no more: they are shown, a cancel is answered, and the next
    prompt is not held up by a model that never answers."""
    session = await approving(agent, tmp_path)
    silent = {"text": "Here are some words of mine", "hang": 3}
    id = agent.prompt(session, [task([silent]), {"text": "never"}])
    # All that is shown of the call then; before, that is what it was asked for.
    await agent.until(
        lambda line: shown(line.get("params", {}).get("update", {})).startswith("Here are some")
    )
    asked = model.asked[-1]
    assert asked.turn.text.startswith("Here are some")
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(id)) == "cancelled"
    await hung_up(model, asked)
    [above] = calls(agent.news(session))
    assert above["status"] == "failed"
    await goes_on(agent, model, session)


async def test_a_sub_agents_streamed_words_are_shown_once(agent: Agent, tmp_path: Path) -> None:
    session = await approving(agent, tmp_path)
    steps = [
        {"thought": "Hm, hm.", "text": "Looking around now.", **run("echo 1")},
        {"text": "It."},
    ]
    assert stop_reason(await agent.turn(session, [task(steps), {"text": "ok"}])) == "end_turn"
    updates = agent.news(session)
    above = calls(updates)[0]["toolCallId"]
    told = [shown(each) for each in updates if each.get("toolCallId") == above]
    assert "Hm, hm.\n\nLooking around now." in told
    assert all(each.count("Looking") <= 1 for each in told)
