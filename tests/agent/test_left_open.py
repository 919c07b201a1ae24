"""What is open when the agent ends stays open, and the model is never told of a cancel that nobody
made."""

import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import (
    ALLOW,
    REJECT,
    answer_all,
    calls,
    permission,
    run,
    shown,
    status,
    stop_reason,
    words,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Start = Callable[[], Awaitable[Agent]]

ENDS = [
    "KILL",
    *(pytest.param(how, marks=pytest.mark.long) for how in ("hang up", "close", "TERM")),
]
CONTINUE: Json = {"rookery": {"continue": True}}


@pytest_asyncio.fixture(loop_scope="session")
async def start(agent_home: Path) -> AsyncIterator[Start]:
    started: list[Agent] = []

    async def make() -> Agent:
        agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
        started.append(agent)
        hello = await agent.call("initialize", protocolVersion=1, clientCapabilities={})
        assert hello["_meta"]["rookery"] == {"continue": True}
        return agent

    yield make
    for agent in started:
        await agent.kill()


async def end(agent: Agent, session: str, how: str) -> None:
    match how:
        case "hang up":
            await agent.close()
        case "close":
            await agent.call("session/close", sessionId=session)
            await agent.close()
        case _:
            agent.process.send_signal(signal.Signals[f"SIG{how}"])
            await agent.process.wait()


async def go_on(agent: Agent, session: str) -> int:
    return agent.ask("session/prompt", sessionId=session, prompt=[], _meta=CONTINUE)


async def resume(agent: Agent, session: str, cwd: Path) -> None:
    await agent.call("session/resume", sessionId=session, cwd=str(cwd), mcpServers=[])


def told(model: ScriptedModel, since: int) -> str:
    """All that the model was told since."""
    return json.dumps([asked.body["messages"] for asked in list(model.asked)[since:]]).lower()


def results(model: ScriptedModel) -> list[Any]:
    return [m["content"] for m in model.asked[-1].body["messages"] if m["role"] == "tool"]


@pytest.mark.long
@pytest.mark.parametrize("how", ENDS)
async def test_an_open_permission_is_asked_again_without_a_made_up_cancel(
    start: Start, model: ScriptedModel, tmp_path: Path, how: str
) -> None:
    """The same call; allowed, it runs, and the run goes on without a new message."""
    first = await start()
    session = await first.new(str(tmp_path))
    first.prompt(session, [run("touch done"), {"text": "all well"}])
    before = (await permission(first))["params"]
    await end(first, session, how)
    since = len(model.asked)
    second = await start()
    await resume(second, session, tmp_path)
    going = await go_on(second, session)
    again = await permission(second)
    for key in ("rawInput", "kind", "title"):
        assert again["params"]["toolCall"][key] == before["toolCall"][key]
    assert len(model.asked) == since, "it is asked before anything else"
    second.send(id=again["id"], result=ALLOW)
    assert stop_reason(await second.answer(going)) == "end_turn"
    assert (tmp_path / "done").exists()
    assert words(second.news(session)) == "all well"
    assert "cancel" not in told(model, since)
    assert "reject" not in told(model, since)
    assert [m["role"] for m in model.asked[-1].body["messages"]].count("user") == 1


@pytest.mark.long
@pytest.mark.parametrize("how", ["hang up", pytest.param("KILL", marks=pytest.mark.long)])
async def test_a_command_that_was_running_is_reported_as_stopped(
    start: Start, model: ScriptedModel, tmp_path: Path, how: str
) -> None:
    """Words that say what happened, not that somebody cancelled it."""
    first = await start()
    answer_all(first, ALLOW)
    session = await first.new(str(tmp_path))
    first.prompt(session, [run("sleep 600"), {"text": "ok"}])
    await status(first, "in_progress")
    await end(first, session, how)
    since = len(model.asked)
    second = await start()
    await resume(second, session, tmp_path)
    assert stop_reason(await second.turn(session, "what now?")) == "end_turn"
    assert "Rookery was stopped while this ran" in str(results(model)[0])
    assert "cancel" not in told(model, since)


@pytest.mark.long
async def test_an_interrupted_command_is_known_after_a_load(
    start: Start, model: ScriptedModel, tmp_path: Path
) -> None:
    """Where nothing is asked, the SDK wrote nothing down of where it stood: the replay shows the
    call as interrupted, the model hears of it, and what was taken back before stays so."""
    first = await start()
    session = await first.new(str(tmp_path))
    await first.call("session/set_mode", sessionId=session, modeId="always-approve")
    await first.turn(session, "taken back")
    await first.turn(session, "/rewind")
    first.prompt(session, [run("touch begun; sleep 600"), {"text": "ok"}])
    await status(first, "in_progress")
    await end(first, session, "KILL")
    second = await start()
    await second.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    past = second.news(session)
    [call] = calls(past)
    assert (call["status"], call["rawInput"]["command"]) == ("failed", "touch begun; sleep 600")
    assert "interrupted" in shown(call)
    assert "taken back" not in words(past, "user_message_chunk")
    since = len(model.asked)
    assert stop_reason(await second.turn(session, "what now?")) == "end_turn"
    assert "touch begun" in told(model, since)
    assert "Rookery was stopped while this ran" in str(results(model)[0])
    assert "taken back" not in told(model, since)
    await second.turn(session, "/rewind 2")
    await second.call("session/close", sessionId=session)
    await second.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert words(second.news(session), "user_message_chunk") == "", "a rewind stays one"


@pytest.mark.long
async def test_actions_already_allowed_are_not_asked_twice(
    start: Start, model: ScriptedModel, tmp_path: Path
) -> None:
    """Two calls in one step; the first was allowed when the agent was killed."""
    first = await start()
    session = await first.new(str(tmp_path))
    both = [run("touch one")["call"], run("touch two")["call"]]
    first.prompt(session, [{"calls": both}, {"text": "both"}])
    one = await permission(first)
    first.send(id=one["id"], result=ALLOW)
    two = await permission(first)
    await end(first, session, "KILL")
    since = len(model.asked)
    second = await start()
    await resume(second, session, tmp_path)
    going = await go_on(second, session)
    again = await permission(second)
    assert again["params"]["toolCall"]["rawInput"] == two["params"]["toolCall"]["rawInput"]
    second.send(id=again["id"], result=REJECT)
    assert stop_reason(await second.answer(going)) == "end_turn"
    assert (tmp_path / "one").exists()
    assert not (tmp_path / "two").exists()
    assert second.requests().count("session/request_permission") == 1
    assert "cancel" not in told(model, since)


@pytest.mark.long
async def test_a_dropped_ask_is_reported_as_the_users_wish(
    start: Start, model: ScriptedModel, tmp_path: Path
) -> None:
    """Only then; and the prompt that says so is not held up by a question."""
    first = await start()
    session = await first.new(str(tmp_path))
    first.prompt(session, [run("touch done"), {"text": "ok"}])
    await permission(first)
    await end(first, session, "hang up")
    second = await start()
    await resume(second, session, tmp_path)
    drop = {"rookery": {"drop": True}}
    blocks = [{"type": "text", "text": "something else"}]
    going = second.ask("session/prompt", sessionId=session, prompt=blocks, _meta=drop)
    assert stop_reason(await second.answer(going)) == "end_turn"
    assert second.requests() == []
    assert not (tmp_path / "done").exists()
    assert "The user cancelled this action" in str(results(model)[0])


@pytest.mark.long
async def test_a_real_cancel_is_still_reported_as_one(
    start: Start, model: ScriptedModel, tmp_path: Path
) -> None:
    agent = await start()
    session = await agent.new(str(tmp_path))
    running = agent.prompt(session, [run("touch done"), {"text": "ok"}])
    await permission(agent)
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(running)) == "cancelled"
    assert stop_reason(await agent.turn(session, "what now?")) == "end_turn"
    assert "The user cancelled the turn" in str(results(model)[0])


@pytest.mark.long
async def test_continuing_with_nothing_open_ends_at_once(
    start: Start, model: ScriptedModel, tmp_path: Path
) -> None:
    agent = await start()
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hello")
    since = len(model.asked)
    assert stop_reason(await agent.answer(await go_on(agent, session))) == "end_turn"
    assert len(model.asked) == since
