"""A key is nowhere but in its own file: not in events, errors, stderr or what is kept, whoever says
it. The ancestor kept it where everybody could read it."""

import asyncio
import os
import select
import stat
from pathlib import Path

import pytest

from tests.acp.driving import Agent, Json
from tests.agent.driving import allow_all, calls, run, shown, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "sk-scripted-key"


async def stderr(agent: Agent, until: str = "") -> str:
    """What it wrote there: all that is there now, or until a word comes."""
    said = ""
    while True:
        wait = 30.0 if until and until not in said else 0.0
        ready, _, _ = await asyncio.to_thread(select.select, [agent._stderr], [], [], wait)
        if not ready:
            return said
        said += os.read(agent._stderr, 1 << 16).decode("utf-8", "replace")


def holding(home: Path) -> list[str]:
    """The files of the home in which the key stands."""
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) > 2
    return [str(path.relative_to(home)) for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("status", ["auth", "server", "rate_limit"])
async def test_a_provider_that_repeats_the_key(
    agent: Agent, agent_home: Path, tmp_path: Path, status: str
) -> None:
    """In its error's words, at every retry too."""
    session = await agent.new(str(tmp_path))
    said = f"Incorrect key '{KEY}'; again: x{KEY}y"
    answer = await agent.turn(session, [{"error": {"status": status, "message": said}}])
    assert "Incorrect key" in answer["error"]["message"]
    assert KEY not in str(agent.raw)
    assert holding(agent_home) == ["agent_settings.json"]


async def test_a_tool_that_reads_the_key(agent: Agent, agent_home: Path, tmp_path: Path) -> None:
    """By a command, in two pieces, by the editor, in a command's own words, and told again."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    settings = agent_home / "agent_settings.json"
    view = {"command": "view", "path": str(settings)}
    half = len(KEY) // 2
    steps: list[Json] = [
        run(f"cat {settings}"),
        run(f"printf {KEY[:half]}; sleep 0.3; printf {KEY[half:]}"),
        run(f"true {KEY}"),
        {"call": {"name": "file_editor", "arguments": view}},
        {"text": f"it is {KEY}", "chunks": 6},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    assert "openai/scripted" in shown(calls(updates)[0])
    assert words(updates) == "it is [redacted]"
    await agent.call("session/close", sessionId=session)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert words(agent.news(session)).startswith("it is ")
    assert KEY not in str(agent.raw)
    assert holding(agent_home) == ["agent_settings.json"]


async def test_output_is_shown_while_the_command_runs(agent: Agent, tmp_path: Path) -> None:
    """It is shorter than the key, and yet nothing waits for what might become of it."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    turn = agent.prompt(session, [run(f"echo rea''dy; cat {gate}"), {"text": "ok"}])
    await agent.until(lambda message: "ready" in str(message))
    await asyncio.to_thread(gate.write_text, "through\n")
    assert stop_reason(await agent.answer(turn)) == "end_turn"
    # The command had not been given up: it read what came after its output had been seen.
    assert "through" in shown(calls(agent.news(session))[0])


async def test_secrets_of_mcp_servers(agent: Agent, agent_home: Path, tmp_path: Path) -> None:
    """Given by the client, used, and not kept or told when the server fails."""
    await stderr(agent)
    token = "tok-of-a-server-71"
    env = [{"name": "SONG_TOKEN", "value": token}]
    command = f"echo my token is {token}. >&2; exit 1"
    broken = {"name": "gone", "command": "/bin/sh", "args": ["-c", command], "env": env}
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[broken])
    session = made["sessionId"]
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn"
    assert token not in str(agent.raw)
    said = await stderr(agent, "my token is ")
    assert "my token is [redacted]." in said
    assert token not in said
    for path in (agent_home / "conversations" / session).rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes(), path


async def test_the_file_of_the_key_is_its_owners_alone(agent: Agent, agent_home: Path) -> None:
    """Made looser by hand, it is tightened as it is read."""
    settings = agent_home / "agent_settings.json"
    await asyncio.to_thread(settings.chmod, 0o644)
    await agent.call("authenticate", methodId="rookery-setup")
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
