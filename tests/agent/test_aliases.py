"""A tool that a model calls by another name is shown, asked for and heard as what it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from openhands.sdk.agent.utils import TOOL_NAME_ALIASES, normalize_tool_call

from rookery.agent.translate.calls import ALIASES, Call, real
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, calls, stop_reason

type Json = dict[str, Any]

GIVEN: dict[str, Json] = {
    **{name: {"command": "status"} for name in ALIASES if ALIASES[name] == "terminal"},
    "str_replace": {"path": "/a", "old_str": "x", "new_str": "y"},
    "str_replace_editor": {"command": "view", "path": "/a"},
}


def test_aliases_are_those_of_the_sdk() -> None:
    assert ALIASES == TOOL_NAME_ALIASES
    assert GIVEN.keys() == ALIASES.keys()


@pytest.mark.parametrize("name", [*ALIASES, "git", "str_replace </parameter"])
@pytest.mark.parametrize("more", [{}, {"file_text": "new"}, {"command": "git log"}])
def test_each_alias_means_what_the_sdk_takes_it_for(name: str, more: Json) -> None:
    plain = name.partition(" ")[0]
    given = GIVEN[plain] | (more if ALIASES[plain] == "terminal" else {})
    tool, arguments = normalize_tool_call(name, given, ["terminal", "file_editor"])
    found = real(Call(name, given, "/"), {})
    assert found.tool == tool
    assert arguments.items() <= found.arguments.items()
    assert found.title() == Call(tool, arguments, "/").title()


def test_an_incomplete_edit_is_not_called_a_view() -> None:
    half = real(Call("str_replace", {"path": "/a"}, "/", whole=False), {})
    assert "command" not in half.arguments
    assert real(half._replace(whole=True, tool="str_replace"), {}).arguments["command"] == "view"


def test_an_mcp_tool_with_an_aliass_name_is_its_own() -> None:
    found = real(Call("git", {"command": "status"}, "/"), {"git": "mcp__forge__git"})
    assert (found.tool, found.title()) == ("mcp__forge__git", "forge: git")
    assert found.kind() == "other"


@pytest.mark.asyncio(loop_scope="session")
async def test_eight_aliases_run_as_their_tools(agent_home: Path, tmp_path: Path) -> None:
    """Announced as such from the first word on, with a terminal for a client that shows them."""
    agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    try:
        offered = {"_meta": {"terminal_output": True}}
        await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
        asked = allow_all(agent)
        session = await agent.new(str(tmp_path))
        (tmp_path / "a").write_text("x\n")
        path = str(tmp_path / "a")
        steps: list[Json] = [
            *({"name": name, "arguments": {"command": f"echo {name}"}} for name in TERMINALS),
            {"name": "git", "arguments": {"command": "--version"}},
            {"name": "reset", "arguments": {"command": "--version"}},
            {"name": "str_replace", "arguments": {"path": path, "old_str": "x", "new_str": "y"}},
            {"name": "str_replace_editor", "arguments": {"command": "view", "path": path}},
        ]
        turns = [*({"call": step} for step in steps), {"text": "ok"}]
        assert stop_reason(await agent.turn(session, turns)) == "end_turn"
        updates = agent.news(session)
        told = calls(updates)
        first = [each for each in updates if each["sessionUpdate"] == "tool_call"]
        kinds = [("terminal", "execute")] * 6 + [("file_editor", "edit"), ("file_editor", "read")]
        assert [(each["name"], each["kind"]) for each in first] == kinds
        assert [(each["name"], each["kind"]) for each in told] == kinds
        titles = [each["title"] for each in first]
        assert titles[4:] == ["run git --version", "run reset --version", "edit a", "view a"]
        assert all("terminal_info" in each["_meta"] for each in first[:6])
        shown = [
            each["_meta"]["terminal_output"]["data"]
            for each in updates
            if "terminal_output" in each.get("_meta", {})
        ]
        for name in TERMINALS:
            assert any(name in data for data in shown), name
        assert any("git version" in data for data in shown)
        assert (tmp_path / "a").read_text() == "y\n"
        seen = json.dumps([each["toolCall"]["name"] for each in asked])
        assert set(json.loads(seen)) <= {"terminal", "file_editor"}
    finally:
        await agent.kill()


TERMINALS = ("bash", "command", "execute", "execute_bash")
