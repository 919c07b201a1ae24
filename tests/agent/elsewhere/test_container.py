"""Issue 17, item 4, with a real container: a turn with a tool, an approval, a cancel, a container
that is killed in mid-turn, and an agent of ours that is. It has no network: the server, and the
model on this machine, are reached through sockets."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent
from tests.agent.conftest import write_settings
from tests.agent.driving import (
    allow_all,
    calls,
    permission,
    run,
    shown,
    stop_reason,
    words,
)
from tests.agent.elsewhere import server_image
from tests.agent.elsewhere.conftest import started
from tests.agent.elsewhere.turns import asked_and_done, cancelled, until_there
from tests.sandbox import images

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),  # several servers are started
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="containers of this machine's files"),
]


@pytest_asyncio.fixture(loop_scope="session")
async def boxed(model: ScriptedModel, home: Path, agent_home: Path) -> AsyncIterator[Agent]:
    if fault := images.fault():
        pytest.skip(fault)
    (home / "person").symlink_to(agent_home / "person")
    write_settings(home, model)
    wanted = {"network": "off", "engine": " ".join(images.ENGINE), "args": images.LIMITS}
    lines = [f"{key} = {json.dumps(value)}" for key, value in wanted.items()]
    config = home / "config.toml"
    config.write_text("\n".join([config.read_text(), "[sandbox]", *lines]) + "\n")
    agent = await started(home, *boxed_in())
    yield agent
    await agent.kill()


def boxed_in() -> list[str]:
    return ["--container", "--image", server_image.image()]


def containers(session: str) -> list[str]:
    """Those that the engine knows, running or not."""
    listed = images.engine("ps", "--all", "--format={{.ID}}", f"--filter=name={session}")
    return listed.stdout.decode().split()


async def test_I17_4_a_turn_in_a_container_then_a_cancel_and_a_kill_in_mid_turn(
    boxed: Agent, home: Path, tmp_path: Path
) -> None:
    """One session through all of it: to start the server takes most of the time."""
    work = tmp_path / "work"
    work.mkdir()
    session = await boxed.new(str(work))
    await asked_and_done(boxed, session, work)
    await cancelled(boxed, session, work)
    await _container_killed(boxed, session, work)
    await boxed.call("session/close", sessionId=session)
    assert containers(session) == []
    assert not list((home / "scratch").glob("*/box-*"))
    assert not (work / ".git").exists()  # the server would make one
    key = b"sk-scripted-key"
    holds = [file.name for file in home.rglob("*") if file.is_file() and key in file.read_bytes()]
    assert holds == ["agent_settings.json"]


async def test_I17_4_a_container_dies_between_prompts_and_an_agent_with_its_own(
    boxed: Agent, home: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    session = await boxed.new(str(work))
    await asked_and_done(boxed, session, work)
    await _killed_between_prompts(boxed, session)
    second = await _agent_killed(boxed, session, work, home)
    await second.call("session/close", sessionId=session)
    assert containers(session) == []
    await second.kill()


async def test_I17_4_a_fork_has_a_container_of_its_own(boxed: Agent, tmp_path: Path) -> None:
    allow_all(boxed)
    session = await boxed.new(str(tmp_path))
    line = run("echo mine > a.txt")
    assert stop_reason(await boxed.turn(session, [line, {"text": "It is written."}])) == "end_turn"
    made = await boxed.call("session/fork", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    fork = str(made["sessionId"])
    answer = await boxed.turn(fork, [run("cat a.txt"), {"text": "a fork"}])
    assert stop_reason(answer) == "end_turn"
    news = boxed.news(fork)
    assert "mine" in shown(calls(news)[-1])
    assert "begun there" not in words(news, "agent_thought_chunk")  # it knows all that was said
    assert len(containers(fork)) == len(containers(session)) == 1
    for each in (session, fork):
        await boxed.call("session/close", sessionId=each)
        assert containers(each) == []


async def _container_killed(agent: Agent, session: str, work: Path) -> None:
    """In mid-turn: it is noticed and made anew, and the turn goes on where it was."""
    running = agent.prompt(session, [run("touch here; sleep 1000"), {"text": "after the kill"}])
    await until_there(agent, work / "here")
    [name] = containers(session)
    await asyncio.to_thread(images.engine, "kill", name)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    news = agent.news(session)
    assert "after the kill" in words(news)
    told = words(news, "agent_thought_chunk")
    assert "The container has ended. Another one is being started." in told
    assert [call["status"] for call in calls(news)] == ["failed"]
    assert name not in containers(session)


async def _killed_between_prompts(agent: Agent, session: str) -> None:
    """It is noticed before the next one. Nothing that was said is lost."""
    allow_all(agent)
    [name] = containers(session)
    await asyncio.to_thread(images.engine, "kill", name)
    answer = await agent.turn(session, [run("cat a.txt"), {"text": "still here"}])
    assert stop_reason(answer) == "end_turn"
    news = agent.news(session)
    assert "new" in shown(calls(news)[-1])
    told = words(news, "agent_thought_chunk")
    assert "Another one is being started" in told
    assert "begun there" not in told


async def _agent_killed(agent: Agent, session: str, work: Path, home: Path) -> Agent:
    """Ours, while it waits for an answer: its container goes with it, and what the engine still
    knows of that is removed by the next start."""
    agent.answers.clear()
    agent.prompt(session, [run("touch never"), {"text": "done"}])
    await permission(agent)
    [name] = containers(session)
    first = images.engine("inspect", "--format={{.State.Pid}}", name).stdout.decode().strip()
    os.kill(agent.process.pid, 9)
    async with asyncio.timeout(60):
        while os.path.exists(f"/proc/{first}"):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.1)
    second = await started(home, *boxed_in())
    await second.call("session/load", sessionId=session, cwd=str(work), mcpServers=[])
    assert "It is written." in words(second.news(session))
    allow_all(second)
    answer = await second.turn(session, [run("cat a.txt"), {"text": "back"}])
    assert stop_reason(answer) == "end_turn"
    assert "new" in shown(calls(second.news(session))[-1])
    assert not (work / "never").exists()
    assert len(containers(session)) == 1
    assert name not in containers(session)
    return second
