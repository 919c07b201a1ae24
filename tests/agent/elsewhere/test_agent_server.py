"""With the real agent server: a turn with a tool, an approval, a cancel, a server that is killed in
mid-turn, and an agent of ours that is."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.agent.conftest import profiles_of, write_settings
from tests.agent.driving import (
    ALLOW,
    REJECT,
    answer_all,
    calls,
    edit,
    permission,
    run,
    shown,
    stop_reason,
    words,
)
from tests.agent.elsewhere.agent_server import KEY, RealServer
from tests.agent.elsewhere.conftest import started
from tests.agent.elsewhere.turns import asked_and_done, cancelled, until_there

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def away(real: RealServer, settled: Path) -> AsyncIterator[Agent]:
    agent = await _started(real, settled)
    yield agent
    await agent.kill()


async def _started(server: RealServer, home: Path, *more: str) -> Agent:
    return await started(home, "--remote", server.url, *more, SESSION_API_KEY=KEY)


@asynccontextmanager
async def _running(server: RealServer, home: Path, *more: str) -> AsyncIterator[Agent]:
    agent = await _started(server, home, *more)
    try:
        yield agent
    finally:
        await agent.kill()


async def test_a_remote_conversation_survives_a_cancel_and_two_kills(
    away: Agent, real: RealServer, settled: Path, tmp_path: Path
) -> None:
    """One session through all of it."""
    server, home = real, settled
    work = tmp_path / "work"
    work.mkdir()
    session = await away.new(str(work))
    await asked_and_done(away, session, work)
    await cancelled(away, session, work)
    await _server_killed(away, session, work, server)
    second = await _agent_killed(away, session, work, server, home)

    # Nothing of the server's key is on disk or in what was said.
    said = b"".join(second.raw)
    assert KEY.encode() not in said
    assert not any(KEY.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())
    await second.kill()


async def _server_killed(away: Agent, session: str, work: Path, server: RealServer) -> None:
    """In mid-turn: the turn waits, and goes on where it was."""
    running = away.prompt(session, [run("touch here; sleep 1000"), {"text": "after the kill"}])
    await until_there(away, work / "here")
    await asyncio.to_thread(server.kill)
    await away.until(lambda line: "does not respond" in str(line))
    await asyncio.to_thread(server.start)
    answer = await away.answer(running)
    assert stop_reason(answer) == "end_turn"
    assert answer["result"]["usage"]["inputTokens"] == 200  # before the kill, and after it
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


async def test_slash_commands_and_plan_mode_work_remotely(
    real: RealServer, settled: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """What the model is asked tells whether the server did it."""
    work, there = tmp_path / "work", tmp_path / "there"
    work.mkdir()
    there.mkdir()
    (there / "a.txt").write_text("hello\n")
    with serving({"aside": {"text": '{"score": 1.0, "complete": true, "missing": ""}'}}) as judge:
        profiles = profiles_of(model)
        profiles["judge"] = profiles["first"] | {"base_url": judge.url}
        write_settings(settled, model, profiles=profiles, critic={"judge": "judge"})
        async with _running(real, settled, "--directory", str(there)) as away:
            session = await away.new(str(work))
            await _model_and_goal(away, session, model)
            forked = await _rewound_forked_and_begun_anew(away, session, model, work)
            await _planned(away, session, model, there)
    # Another process reads the past of both from the copies.
    async with _running(real, settled) as away:
        for each, said in ((session, "fresh"), (forked, "in the fork")):
            await away.call("session/load", sessionId=each, cwd=str(work), mcpServers=[])
            told = words(away.news(each), "user_message_chunk")
            assert said in told
            assert "taken back" not in told


def _heard(model: ScriptedModel) -> list[str]:
    """What the model was last asked about, without the system prompt."""
    messages: list[Json] = model.asked[-1].body["messages"]
    assert messages[0]["role"] == "system"
    parts = [each["content"] or "" for each in messages[1:] if each["role"] == "user"]
    return [p if isinstance(p, str) else " ".join(each["text"] for each in p) for p in parts]


async def _model_and_goal(away: Agent, session: str, model: ScriptedModel) -> None:
    """A model that is chosen before the first prompt; its use is counted, the judge's too."""
    await away.turn(session, "/model second")
    answer = await away.turn(session, "/goal say hello")
    assert stop_reason(answer) == "end_turn"
    assert "The goal is reached, after 1 round." in words(away.news(session))
    assert model.asked[-1].body["model"] == "other"
    assert answer["result"]["usage"]["inputTokens"] == 200


async def _rewound_forked_and_begun_anew(
    away: Agent, session: str, model: ScriptedModel, work: Path
) -> str:
    await away.turn(session, "taken back")
    await away.turn(session, "/rewind")
    await away.turn(session, "kept")
    assert _heard(model) == ["say hello", "kept"]
    made = await away.call("session/fork", sessionId=session, cwd=str(work), mcpServers=[])
    forked = str(made["sessionId"])
    answer = await away.turn(forked, "in the fork")
    assert answer["result"]["usage"]["inputTokens"] == 100
    assert _heard(model) == ["say hello", "kept", "in the fork"]
    await away.turn(forked, "/rewind 2")
    await away.turn(forked, "again in the fork")
    assert _heard(model) == ["say hello", "again in the fork"]
    await away.turn(session, "/condense")
    assert "Condensed: the model now sees" in words(away.news(session))
    await away.turn(session, "/new")
    await away.turn(session, "fresh")
    assert _heard(model) == ["fresh"]
    await away.turn(forked, "in the fork, last")
    return forked


async def _planned(away: Agent, session: str, model: ScriptedModel, there: Path) -> None:
    """Nothing is changed before "go", whoever says yes; then the same turn carries on."""
    look = {"command": "view", "path": str(there / "a.txt")}
    refused = [edit(there / "b.txt", "bad"), run("touch c.txt"), run("cat a.txt")]
    viewed = {"call": {"name": "file_editor", "arguments": look}}
    plan = [*refused, viewed, {"text": "# Plan\n1. Write b.txt"}]
    await away.turn(session, "/plan")
    keep = {"outcome": {"outcome": "selected", "optionId": "keep-planning"}}
    asked = answer_all(away, keep)
    assert stop_reason(await away.turn(session, plan)) == "end_turn"
    assert [params["toolCall"]["kind"] for params in asked] == ["switch_mode"]
    made = calls(away.news(session))
    assert [call["status"] for call in made] == [
        *["failed"] * 3,
        *["completed"] * 2,
    ]
    assert all(shown(call).startswith("Not in plan mode: ") for call in made[:3])
    assert "no command is run" in _heard(model)[-1]
    assert not (there / "b.txt").exists()
    assert not (there / "c.txt").exists()

    assert stop_reason(await away.turn(session, "/go")) == "end_turn"
    assert "Carry out the plan now." in _heard(model)[-1]
    both = {"calls": [run("touch one")["call"], run("touch two")["call"]]}
    answers = iter([ALLOW, ALLOW, REJECT])
    away.answers["session/request_permission"] = lambda _: next(answers)
    await away.turn(session, [edit(there / "b.txt", "good\n"), both, {"text": "done"}])
    written, one, two = calls(away.news(session))
    assert (written["title"], written["status"]) == ("create b.txt", "completed")
    assert (there / "b.txt").read_text() == "good\n"
    assert shown(one).startswith("Not run, since another call")
    assert shown(two).startswith("You rejected this")
    assert not (there / "one").exists()
