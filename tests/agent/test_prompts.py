"""Prompts, from their content to a true stop reason; and prompts into a running turn."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json, kinds, texts
from tests.agent.conftest import write_settings
from tests.agent.driving import (
    ALLOW,
    allow_all,
    calls,
    edit,
    permission,
    run,
    shown,
    status,
    stop_reason,
    words,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_words_stream_as_the_model_writes_them(agent: Agent, tmp_path: Path) -> None:
    """Token by token, thought and message; the whole is not said again at the end. What comes at
    once is joined."""
    session = await agent.new(str(tmp_path))
    steps = [{"text": "one two three", "thought": "let me see", "every": 0.2}]
    answer = await agent.turn(session, steps)
    updates = agent.news(session)
    assert stop_reason(answer) == "end_turn"
    assert len(texts(updates)) > 1
    assert words(updates) == "one two three"
    assert words(updates, "agent_thought_chunk") == "let me see"
    assert not [u for u in updates if u["sessionUpdate"] == "user_message_chunk"]


async def test_a_command_and_an_edit_are_shown_with_output_and_diff(
    agent: Agent, tmp_path: Path
) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    steps = [run("echo $((6*7))"), edit(tmp_path / "a.txt", "new"), {"text": "done"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    command, editing = calls(updates)
    assert (command["kind"], command["status"]) == ("execute", "completed")
    assert "42" in shown(command)
    [diff] = [part for part in editing["content"] if part["type"] == "diff"]
    assert (diff["path"], diff["oldText"], diff["newText"]) == (
        str(tmp_path / "a.txt"),
        None,
        "new",
    )
    assert (tmp_path / "a.txt").read_text() == "new"
    assert words(updates) == "done"


async def test_markup_in_a_command_is_just_text(agent: Agent, tmp_path: Path) -> None:
    """`[bold]` and an escaped bracket broke a run of the ancestor's."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    text = r"[bold]x[/bold] \[test\] [/] [red"
    command = f"printf '%s\\n' '{text}'"
    assert stop_reason(await agent.turn(session, [run(command), {"text": text}])) == "end_turn"
    updates = agent.news(session)
    assert text in shown(calls(updates)[0])
    assert words(updates) == text


async def test_every_kind_of_content_reaches_the_model(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
        "rkJggg=="
    )
    blocks: list[Json] = [
        {"type": "text", "text": "look at these"},
        {"type": "image", "mimeType": "image/png", "data": pixel},
        {"type": "resource", "resource": {"uri": "file:///x/a%20b.py", "text": "x = 1"}},
        {"type": "resource_link", "uri": "file:///x/b.py", "name": "b.py"},
    ]
    answer = await agent.call("session/prompt", sessionId=session, prompt=blocks)
    assert answer["stopReason"] == "end_turn"
    sent = str(model.asked[-1].body["messages"][-1])
    for part in ("look at these", "/x/a b.py", "x = 1", "[b.py](/x/b.py)"):
        assert part in sent


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///x", "blob": "AAAA"}},
        {"type": "alien"},
        {"type": "text"},
    ],
    ids=lambda block: block["type"],
)
async def test_unsupported_content_is_refused(agent: Agent, tmp_path: Path, block: Json) -> None:
    session = await agent.new(str(tmp_path))
    refused = await agent.answer(agent.ask("session/prompt", sessionId=session, prompt=[block]))
    assert refused["error"]["code"] == -32602
    assert stop_reason(await agent.turn(session, "next")) == "end_turn"


async def test_a_prompt_during_a_turn_enters_at_the_next_step(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """It enters at the next step, behind the result of the call that runs; both are answered."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    steps = [run("while [ ! -e go ]; do sleep 0.05; done; echo over"), {"text": "seen: $prompt"}]
    first = agent.prompt(session, steps)
    await status(agent, "in_progress")
    second = agent.prompt(session, "and be brief")
    await agent.call("session/list")  # it was taken before this
    (tmp_path / "go").touch()
    assert stop_reason(await agent.answer(first)) == "end_turn"
    assert stop_reason(await agent.answer(second)) == "end_turn"
    assert words(agent.news(session)) == "seen: and be brief"
    roles = [message["role"] for message in model.asked[-1].body["messages"]]
    assert roles[-4:] == ["user", "assistant", "tool", "user"]


async def test_steering_by_the_steer_method(agent: Agent, tmp_path: Path) -> None:
    """As our worker speaks it."""
    session = await agent.new(str(tmp_path))
    prompt = [{"type": "text", "text": "hurry"}]
    idle = await agent.call("_session/steering", sessionId=session, prompt=prompt)
    assert idle == {"outcome": "promptRequired"}
    running = agent.prompt(session, [run("true"), {"text": "seen: $prompt"}])
    asked = await permission(agent)
    taken = await agent.call("_session/steering", sessionId=session, prompt=prompt)
    assert taken == {"outcome": "injected"}
    agent.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert words(agent.news(session)) == "seen: hurry"


async def test_sessions_run_side_by_side(agent: Agent, tmp_path: Path) -> None:
    one, two = await agent.new(str(tmp_path)), await agent.new(str(tmp_path))
    waiting = agent.prompt(one, [run("true"), {"text": "end"}])
    asked = await permission(agent)
    assert stop_reason(await agent.turn(two, "hi")) == "end_turn"
    agent.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await agent.answer(waiting)) == "end_turn"


async def test_the_shell_lasts_across_prompts_and_a_cancel(agent: Agent, tmp_path: Path) -> None:
    """Its directory and environment, over prompts and a cancel."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    (tmp_path / "sub").mkdir()
    await agent.turn(session, [run("cd sub; export WORD=kept"), {"text": "ok"}])
    running = agent.prompt(session, [run("sleep 60")])
    await status(agent, "in_progress")
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(running)) == "cancelled"
    agent.news()
    await agent.turn(session, [run("pwd; echo $WORD"), {"text": "ok"}])
    printed = shown(calls(agent.news(session))[0])
    assert str(tmp_path / "sub") in printed
    assert "kept" in printed


async def test_a_plan_update_whose_call_completes(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    tasks = [{"title": "look", "status": "done"}, {"title": "write", "status": "todo"}]
    arguments = {"command": "plan", "task_list": tasks}
    steps = [{"call": {"name": "task_tracker", "arguments": arguments}}, {"text": "ok"}]
    await agent.turn(session, steps)
    updates = agent.news(session)
    assert [call["status"] for call in calls(updates)] == ["completed"]
    [plan] = [u["entries"] for u in updates if u["sessionUpdate"] == "plan"]
    assert [entry["content"] for entry in plan] == ["look", "write"]


async def test_title_and_usage_are_reported(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "Say hello\nand more")
    updates = agent.news(session)
    [told] = [u for u in updates if u["sessionUpdate"] == "session_info_update"]
    assert told["title"] == "Say hello"
    [usage] = [u for u in updates if u["sessionUpdate"] == "usage_update"]
    assert (usage["used"], usage["size"]) == (120, 100_000)
    assert usage["cost"]["amount"] == pytest.approx(0.14)
    await agent.turn(session, "again")
    again = agent.news(session)
    assert "session_info_update" not in kinds(again)
    [usage] = [u for u in again if u["sessionUpdate"] == "usage_update"]
    assert usage["cost"]["amount"] == pytest.approx(0.28)


async def test_a_providers_quotas_come_with_the_usage(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    counted = {"limit": "100", "remaining": "12", "reset": "6m0s"}
    headers = {f"x-ratelimit-{key}-requests": value for key, value in counted.items()}
    headers |= {"anthropic-ratelimit-unified-5h-utilization": "0.82"}
    await agent.turn(session, [{"text": "hi", "headers": headers}])
    usage = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"][-1]
    told = {each["window"]: each for each in usage["_meta"]["rookery"]["limits"]}
    assert told["requests"]["used"] == 0.88
    assert "resetsAt" in told["requests"]
    assert told["5 h"] == {"window": "5 h", "used": 0.82}


async def test_tokens_of_an_unlisted_model_are_reported(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """They are told without a size of the context, and no cost is made up."""
    unknown = {"model": "openai/scripted", "api_key": "sk-scripted-key", "base_url": model.url}
    write_settings(agent_home, model, profiles={"first": unknown})
    try:
        session = await agent.new(str(tmp_path))
        await agent.turn(session, "Say hello")
        [usage] = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"]
        await agent.turn(session, "/cost")
    finally:
        write_settings(agent_home, model)
    assert usage.pop("_meta") == {"rookery": {"turnTokens": 120}}, "for budgets"
    assert usage == {"sessionUpdate": "usage_update", "used": 120, "size": 0}
    said = "".join(texts(agent.news(session)))
    assert "Cost: unknown for this model" in said
    assert "Tokens in: 100" in said


async def test_usage_is_reported_with_each_model_answer(agent: Agent, tmp_path: Path) -> None:
    """Before the call that it asked for has ended; also when a turn fails; and after a load, where
    the session's cost goes on from what it was."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, [run("echo 1"), run("echo 2"), {"error": "auth"}])
    assert answer["error"]["data"]["errorKind"] == "auth"
    updates = agent.news(session)
    used = [u for u in updates if u["sessionUpdate"] == "usage_update"]
    assert [u["cost"]["amount"] for u in used] == [pytest.approx(0.14), pytest.approx(0.28)]
    assert {(u["used"], u["size"]) for u in used} == {(120, 100_000)}
    spent = [u.pop("_meta")["rookery"]["turnTokens"] for u in used]
    assert spent == [120, 240]
    ended = [n for n, u in enumerate(updates) if u.get("status") == "completed"]
    assert updates.index(used[0]) < ended[0] < updates.index(used[1]) < ended[1]
    await agent.call("session/close", sessionId=session)
    agent.news()
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"] == used[1:]
    assert stop_reason(await agent.turn(session, [{"text": "on"}])) == "end_turn"
    [more] = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"]
    assert more["cost"]["amount"] == pytest.approx(0.42)


def tokens(answer: Json) -> dict[str, int]:
    return {key.removesuffix("Tokens"): n for key, n in answer["result"]["usage"].items() if n}


async def test_a_prompts_answer_has_its_turns_tokens(agent: Agent, tmp_path: Path) -> None:
    """Each turn's own: all calls of the model, what came from its cache apart. Those of a turn that
    failed come with the next one; none come twice after a load."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    used = {"input": 1000, "output": 100, "cached": 800, "reasoning": 30}
    answer = await agent.turn(session, [run("echo 1"), {"text": "done", "usage": used}])
    expected = {"input": 100 + 200, "output": 20 + 100, "cachedRead": 800, "thought": 30}
    assert tokens(answer) == expected | {"total": 1220}
    answer = await agent.turn(session, [run("echo 2"), {"error": "auth"}])
    assert "error" in answer
    answer = await agent.turn(session, [{"text": "again"}])
    assert tokens(answer) == {"input": 200, "output": 40, "total": 240}
    await agent.call("session/close", sessionId=session)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    answer = await agent.turn(session, [{"text": "more"}])
    assert tokens(answer) == {"input": 100, "output": 20, "total": 120}
    assert "usage" not in (await agent.turn(session, "/cost"))["result"]


@pytest.mark.long
async def test_a_client_that_does_not_read_holds_its_turn_alone(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """What is not read does not pile up: the run waits for its client between two steps, while the
    rest of the agent goes on. Later all of it comes, in order."""
    assert agent.process.stdout is not None
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
    count, steps = len(model.asked), 7
    loud = {"thought": "x" + " " * 150_000 + "x", "chunks": 3}  # many bytes, few tokens
    talk = [run("echo >> ran") | loud | {"text": f"<{n}>"} for n in range(steps)]
    pipe: Any = agent.process.stdout._transport  # type: ignore[attr-defined]
    pipe.pause_reading()
    try:
        id = agent.prompt(session, [*talk, {"text": "end"}])
        await asyncio.to_thread(model.wait, count + 2)
        made = [await make_unheard(agent, agent_home, tmp_path) for _ in range(24)]
        done = len((tmp_path / "ran").read_text().splitlines())
    finally:
        pipe.resume_reading()
    print("steps that were taken:", done)
    assert done <= 3
    agent.news()
    assert stop_reason(await agent.answer(id)) == "end_turn"
    said = words(agent.news(session))
    assert said == "".join(f"<{n}>" for n in range(steps)) + "end"
    for other in made:
        assert await agent.call("session/close", sessionId=other) == {}


async def make_unheard(agent: Agent, home: Path, cwd: Path) -> str:
    """A session whose answer nobody reads: seen on the disk."""
    folder = home / "conversations"
    before = set(os.listdir(folder))
    agent.ask("session/new", cwd=str(cwd), mcpServers=[])
    async with asyncio.timeout(120):
        while not (fresh := set(os.listdir(folder)) - before):
            await asyncio.to_thread(os.sched_yield)
    return fresh.pop()
