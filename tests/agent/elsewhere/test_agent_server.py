"""Issue 17, item 4, with the real agent server: a turn with a tool, an approval, a cancel, a server
that is killed in mid-turn, and an agent of ours that is."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, statuses
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.driving import (
    ALLOW,
    allow_all,
    calls,
    edit,
    permission,
    run,
    shown,
    stop_reason,
    words,
)
from tests.agent.elsewhere.agent_server import KEY, RealServer

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    place = tmp_path / "server"
    place.mkdir()
    server = RealServer(place)
    server.start()
    yield server
    server.end()


@pytest_asyncio.fixture(loop_scope="session")
async def away(
    server: RealServer, model: ScriptedModel, home: Path, agent_home: Path
) -> AsyncIterator[Agent]:
    (home / "person").symlink_to(agent_home / "person")
    write_settings(home, model)
    agent = await _started(server, home)
    yield agent
    await agent.kill()


async def _started(server: RealServer, home: Path) -> Agent:
    environment = surroundings(home, SESSION_API_KEY=KEY)
    agent = await Agent.start([*ARGV, "--remote", server.url], environment=environment, forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    return agent


async def test_I17_4_a_turn_elsewhere_then_a_cancel_and_two_kills(
    away: Agent, server: RealServer, home: Path, tmp_path: Path
) -> None:
    """One session through all of it: to start the server takes most of the time."""
    work = tmp_path / "work"
    work.mkdir()
    session = await away.new(str(work))
    await _asked_and_done(away, session, work)
    await _cancelled(away, session, work)
    await _server_killed(away, session, work, server)
    second = await _agent_killed(away, session, work, server, home)

    # Nothing of the server's key is on disk or in what was said.
    said = b"".join(second.raw)
    assert KEY.encode() not in said
    assert not any(KEY.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())
    await second.kill()


async def _asked_and_done(away: Agent, session: str, work: Path) -> None:
    """A tool, asked for before it runs; a diff; words as they come."""
    running = away.prompt(session, [edit(work / "a.txt", "new\n"), {"text": "It is written."}])
    asked = await permission(away)
    assert not (work / "a.txt").exists()
    call = asked["params"]["toolCall"]
    [diff] = [part for part in call["content"] if part["type"] == "diff"]
    assert diff["newText"] == "new\n"
    away.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await away.answer(running)) == "end_turn"
    news = away.news(session)
    assert (work / "a.txt").read_text() == "new\n"
    assert words(news) == "It is written."
    assert statuses(news)[-2:] == ["in_progress", "completed"]
    assert [each["toolCallId"] for each in calls(news)] == [call["toolCallId"]]


async def _cancelled(away: Agent, session: str, work: Path) -> None:
    """While a command runs: it ends over there, and the next prompt is answered."""
    allow_all(away)
    running = away.prompt(session, [run("touch began; sleep 1000"), {"text": "no"}])
    await _until_there(away, work / "began")
    away.notify("session/cancel", sessionId=session)
    assert stop_reason(await away.answer(running)) == "cancelled"
    after = await away.turn(session, [run("echo fine"), {"text": "again"}])
    assert stop_reason(after) == "end_turn"
    assert "fine" in shown(calls(away.news(session))[-1])


async def _server_killed(away: Agent, session: str, work: Path, server: RealServer) -> None:
    """In mid-turn: the turn waits, and goes on where it was."""
    running = away.prompt(session, [run("touch here; sleep 1000"), {"text": "after the kill"}])
    await _until_there(away, work / "here")
    await asyncio.to_thread(server.kill)
    await away.until(lambda line: "does not respond" in str(line))
    await asyncio.to_thread(server.start)
    assert stop_reason(await away.answer(running)) == "end_turn"
    news = away.news(session)
    assert "after the kill" in words(news)
    ended = [(call["title"], call["status"]) for call in calls(news)]
    assert [status for _, status in ended] == ["failed"], ended


async def _agent_killed(
    away: Agent, session: str, work: Path, server: RealServer, home: Path
) -> Agent:
    """Ours, while it waits for an answer: the same ask stands again."""
    away.answers.clear()
    away.prompt(session, [run("echo mine"), {"text": "done"}])
    first = await permission(away)
    os.kill(away.process.pid, 9)
    second = await _started(server, home)
    loaded = await second.call("session/load", sessionId=session, cwd=str(work), mcpServers=[])
    assert loaded["modes"]
    assert "It is written." in words(second.news(session))
    blocks = [{"type": "text", "text": ""}]
    meta = {"rookery": {"continue": True}}
    running = second.ask("session/prompt", sessionId=session, prompt=blocks, _meta=meta)
    again = await permission(second)
    assert again["params"]["toolCall"]["rawInput"] == first["params"]["toolCall"]["rawInput"]
    second.send(id=again["id"], result=ALLOW)
    assert stop_reason(await second.answer(running)) == "end_turn"
    assert "done" in words(second.news(session))
    return second


async def _until_there(agent: Agent, path: Path) -> None:
    """Nothing tells when a file appears; the agent's lines are read meanwhile."""
    async with asyncio.timeout(60):
        while not path.exists():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await agent.read()
