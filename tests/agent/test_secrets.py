"""A key is nowhere but in its own file: not in events, errors, stderr or what is kept, whoever says
it. The ancestor kept it where everybody could read it."""

import asyncio
import os
import select
import stat
import time
from pathlib import Path

import pytest
from openhands.sdk import Message, TextContent

from rookery.agent.scripted.server import ScriptedModel
from rookery.agent.sdk_patches.gate import without_secrets
from rookery.models.secrets import KNOWN
from tests.acp.driving import Agent, Json
from tests.agent.conftest import profiles_of, write_settings
from tests.agent.driving import allow_all, calls, run, shown, stop_reason, words
from tests.agent.test_subagents import task

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


@pytest.mark.parametrize("below", [False, True])
async def test_a_key_that_a_tool_reads_is_not_told_to_the_model(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path, below: bool
) -> None:
    """By the editor, by a command, by an agent below: the result goes into every later request,
    and those to other providers, too."""
    other = "sk-of-another-profile"
    extra = {"x": {"model": "openai/x", "api_key": other}}
    write_settings(agent_home, model, profiles=profiles_of(model) | extra)
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
    allow_all(agent)  # to read Rookery's own files waits for a person in every mode
    view = {"command": "view", "path": str(agent_home / "agent_settings.json")}
    insert = {"command": "insert", "path": str(tmp_path / "copy"), "insert_line": 0}
    steps: list[Json] = [
        {"call": {"name": "file_editor", "arguments": view}},
        run(f"cat {view['path']} | tee {tmp_path / 'copy'}"),
        {"call": {"name": "file_editor", "arguments": insert | {"new_str": "first"}}},
        {"text": "seen"},
    ]
    since = time.monotonic_ns()
    if below:
        steps = [task(steps, subagent_type="general-purpose"), {"text": "ok"}]
    try:
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    finally:
        write_settings(agent_home, model)
    asked = [each.body for each in model.asked if each.received >= since]
    assert len(asked) == (6 if below else 4)
    assert "openai/scripted" in str(asked[-2]), "the file was read"
    assert "[redacted]" in str(asked)
    kept = (tmp_path / "copy").read_text()
    for key in (KEY, other):
        assert key not in str(asked)
        assert key in kept, "what is in files stays"


async def test_what_holds_no_secret_is_not_copied() -> None:
    """Nested, in lists and dictionaries; and what holds one keeps its kind."""
    learned = "a-secret-of-this-test"
    KNOWN.learn([learned])
    plain = TextContent(text="nothing")
    told = TextContent(text=f"it is {learned}.")
    message = Message(role="tool", content=[plain, told], name="x")
    hidden = without_secrets(message)
    assert [each.text for each in hidden.content] == ["nothing", "it is [redacted]."]
    assert hidden.content[0] is plain
    assert without_secrets(hidden) is hidden
    assert without_secrets({"a": (learned, 1), "b": [plain]}) == {
        "a": ("[redacted]", 1),
        "b": [plain],
    }


async def test_secrets_of_mcp_servers(agent: Agent, agent_home: Path, tmp_path: Path) -> None:
    """Given by the client, used, and not kept or told when the server fails."""
    await stderr(agent)
    token = "tok-of-a-server-71"
    env = [{"name": "SONG_TOKEN", "value": token}]
    # It dies of what it is asked: of one that is dead by then, the library hears nothing for long.
    command = f"read -r line; echo my token is {token}. >&2; exit 1"
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


async def test_secrets_of_mcp_servers_are_redacted_by_where_they_stand(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """A bearer's token, a password in an address, an argument, variables: whoever says them."""
    spoken = ["bearer-1-of-it", "address-1-of-it", "argument-1-of-it", "pg-1-of-it", "my-1-of-it"]
    bearer, address, argument, password, token = spoken
    header = {"name": "Authorization", "value": f"Bearer {bearer}"}
    far = {"type": "http", "name": "far", "url": f"http://me:{address}@127.0.0.1:9/mcp"}
    near: Json = {"name": "near", "command": "/nowhere/to/be/found"}
    near |= {"args": ["--api-key", argument]}
    variables = {"PGPASSWORD": password, "MYTOKEN": token}
    near |= {"env": [{"name": name, "value": value} for name, value in variables.items()]}
    allow_all(agent)
    servers = [far | {"headers": [header]}, near]
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=servers)
    session = made["sessionId"]
    await agent.turn(session, [run(f"echo {' '.join(spoken)}"), {"text": " ".join(spoken)}])
    updates = agent.news(session)
    assert shown(calls(updates)[0]).count("[redacted]") == len(spoken)
    assert words(updates) == " ".join(["[redacted]"] * len(spoken))
    result = str(model.asked[-1].body["messages"][-1])
    for secret in spoken:
        assert secret not in str(agent.raw)
        assert secret not in result


async def test_the_file_of_the_key_is_its_owners_alone(agent: Agent, agent_home: Path) -> None:
    """Made looser by hand, it is tightened as it is read."""
    settings = agent_home / "agent_settings.json"
    await asyncio.to_thread(settings.chmod, 0o644)
    await agent.call("authenticate", methodId="rookery-setup")
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
