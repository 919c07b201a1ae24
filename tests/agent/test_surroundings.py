"""Instructions, skills, hooks and MCP servers come from the session's directory."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.core.policy.hook_asks import TOOL
from tests.acp.driving import Agent, Json
from tests.agent.driving import (
    allow_all,
    calls,
    edit,
    run,
    shown,
    stop_reason,
    tool_of_server,
    words,
)
from tests.agent.test_subagents import task

pytestmark = pytest.mark.asyncio(loop_scope="session")

HI = {"text": "hi"}
SERVER = """
import sys
from mcp.server.fastmcp import FastMCP

server = FastMCP("songs")

@server.tool()
def sing(word: str) -> str:
    import os
    return f"la {word} {os.environ.get('TUNE', '')}"

server.run()
"""


def hook(cwd: Path, **kinds: str) -> None:
    folder = cwd / ".rookery"
    folder.mkdir()
    table = {kind: [{"hooks": [{"command": line}]}] for kind, line in kinds.items()}
    (folder / "hooks.json").write_text(json.dumps(table))


async def test_instructions_come_from_the_sessions_directory(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """AGENTS.md of the session, of this session alone; not that of where the process runs."""
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    (tmp_path / "with" / "AGENTS.md").write_text("Speak like a HERON.")
    for name, told in (("with", True), ("without", False)):
        session = await agent.new(str(tmp_path / name))
        await agent.turn(session, "hi")
        system = str(model.asked[-1].body["messages"][0])
        assert ("HERON" in system) is told
        assert str(tmp_path / name) in system


async def test_the_model_is_told_that_it_is_rookerys_agent(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """And a sub-agent, too; neither is sent to another product's manual, or signs as it."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    since = len(model.asked)
    await agent.turn(session, [task([{"text": "below"}], subagent_type="general-purpose"), HI])
    asked = [each.body["messages"] for each in list(model.asked)[since:]]
    systems = [str(messages[0]) for messages in asked if messages[0]["role"] == "system"]
    assert len(systems) == 3, "its own twice, and the sub-agent's"
    for system in systems:
        assert "You are Rookery's agent" in system or "You are Rookery\\'s agent" in system
        assert "Rookery runs coding agents" in system
        for word in ("OpenHands agent", "docs.openhands.dev", "openhands@all-hands.dev"):
            assert word not in system


async def test_additional_directories_are_usable(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    made = await agent.call(
        "session/new", cwd=str(tmp_path), mcpServers=[], additionalDirectories=["/tmp/more-of-it"]
    )
    await agent.turn(made["sessionId"], "hi")
    assert "/tmp/more-of-it" in str(model.asked[-1].body["messages"][0])


async def test_hooks_of_all_six_kinds(agent: Agent, model: ScriptedModel, tmp_path: Path) -> None:
    """Each is run, in the session's directory, and none holds up the rest of the agent."""
    kinds = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop")
    hook(tmp_path, **{kind: f"echo {kind} >> ran" for kind in (*kinds, "session_end")})
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    assert stop_reason(await agent.turn(session, [run("echo 1"), {"text": "ok"}])) == "end_turn"
    assert (tmp_path / "ran").read_text().split() == list(kinds)
    await agent.call("session/close", sessionId=session)
    assert (tmp_path / "ran").read_text().split() == [*kinds, "session_end"]


async def test_a_hook_that_forbids_a_tool(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """The person is not asked for what is not done; the model is told why."""
    hook(tmp_path, pre_tool_use="echo not on my watch >&2; exit 2")
    asked = allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("touch done"), {"text": "then not"}])
    updates = agent.news(session)
    assert [each["toolCall"]["name"] for each in asked] == [TOOL]
    assert not (tmp_path / "done").exists()
    assert [call["status"] for call in calls(updates)] == ["completed", "failed"]
    assert "not on my watch" in str(model.asked[-1].body["messages"][-1])
    assert words(updates) == "then not"


async def test_a_hook_that_forbids_a_prompt(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    hook(tmp_path, user_prompt_submit="exit 2")
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    count = len(model.asked)
    assert stop_reason(await agent.turn(session, [{"text": "never"}])) == "end_turn"
    assert len(model.asked) == count


async def test_a_hook_that_forbids_to_stop(agent: Agent, tmp_path: Path) -> None:
    """The model is told, and goes on; in the end it may stop."""
    allow_all(agent)
    hook(tmp_path, stop="if [ -e once ]; then exit 0; fi; touch once; echo more >&2; exit 2")
    session = await agent.new(str(tmp_path))
    steps = [{"text": "first "}, {"text": "second"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    assert words(agent.news(session)) == "first second"


async def test_hooks_with_a_mistake_are_refused(agent: Agent, tmp_path: Path) -> None:
    """A guard that is silently left out guards nothing."""
    (tmp_path / ".rookery").mkdir()
    (tmp_path / ".rookery" / "hooks.json").write_text('{"before": []}')
    asked = agent.ask("session/new", cwd=str(tmp_path), mcpServers=[])
    refused = (await agent.answer(asked))["error"]
    assert "hooks.json" in refused["message"]


async def test_mcp_servers_are_launched_and_their_tools_work(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Launched with their environment, their tools reach the model and can be called."""
    (tmp_path / "server.py").write_text(SERVER)
    server: Json = {
        "name": "songs",
        "command": sys.executable,
        "args": [str(tmp_path / "server.py")],
        "env": [{"name": "TUNE", "value": "dolce"}],
    }
    allow_all(agent)
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[server])
    session = made["sessionId"]
    name = await tool_of_server(agent, model, session, "sing")
    await agent.turn(
        session, [{"call": {"name": name, "arguments": {"word": "lu"}}}, {"text": "ok"}]
    )
    [called] = calls(agent.news(session))
    assert "la lu dolce" in shown(called)
    await agent.turn(session, "/mcp")
    assert "songs" in words(agent.news(session))


async def test_a_broken_mcp_server_is_a_notice(agent: Agent, tmp_path: Path) -> None:
    """And costs nothing but its own tools."""
    broken = {"name": "gone", "command": "/nowhere/to/be/found", "args": [], "env": []}
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[broken])
    session = made["sessionId"]
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn"
    told = [line["params"]["update"] for line in agent.lines if "update" in line.get("params", {})]
    assert "Continuing without MCP server gone" in words(told, "agent_thought_chunk")


async def test_the_users_and_the_projects_memory_are_read(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """The SDK's, with the person's in Rookery's home; what is written there asks in every mode."""
    place, own = agent_home / "memory" / "MEMORY.md", tmp_path / ".openhands" / "memory"
    config = agent_home / "config.toml"
    before = config.read_text()
    place.parent.mkdir()
    own.mkdir(parents=True)
    place.write_text("Prefers TERNS.\n")
    (own / "MEMORY.md").write_text("The nest is in EIDER.\n")
    try:
        session = await agent.new(str(tmp_path))
        params = {"sessionId": session, "configId": "mode", "value": "always-approve"}
        await agent.call("session/set_config_option", **params)
        asked = allow_all(agent)
        notes = [edit(own / "2026-01-01.md", "x"), edit(place, "Prefers GULLS.\n")]
        await agent.turn(session, json.dumps({"play": [*notes, "Noted"]}))
        system = str(model.asked[-1].body["messages"][0])
        assert "Prefers TERNS." in system
        assert "The nest is in EIDER." in system
        assert f"`{place.parent}/`" in system
        assert [each["toolCall"]["locations"][0]["path"] for each in asked] == [str(place)]
        config.write_text(f"{before}memory = false\n")
        session = await agent.new(str(tmp_path))
        await agent.turn(session, "hi")
        system = str(model.asked[-1].body["messages"][0])
        assert "GULLS" not in system
        assert "EIDER" not in system
    finally:
        config.write_text(before)
        shutil.rmtree(place.parent)
