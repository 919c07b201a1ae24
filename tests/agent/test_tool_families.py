"""Each family of models gets the editors that it knows; whichever it is, the same edit is asked
about, judged and shown alike. All can search, and a search does nothing else."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.agent.tools import families
from rookery.agent.translate.calls import Call
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, calls, stop_reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD, NEW = "one\ntwo\n", "one\n2\n"
ALL = ["glob", "grep", "task", "task_tracker", "terminal", "web_fetch"]


def call(name: str, **arguments: Any) -> Json:
    return {"call": {"name": name, "arguments": {"security_risk": "LOW", **arguments}}}


def patch(*lines: str) -> Json:
    return call("apply_patch", patch="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def by_editor(path: Path) -> Json:
    return call("file_editor", command="str_replace", path=str(path), old_str="two", new_str="2")


def by_patch(path: Path) -> Json:
    return patch(f"*** Update File: {path.name}", "@@", " one", "-two", "+2")


def by_edit(path: Path) -> Json:
    return call("edit", file_path=str(path), old_string="two", new_string="2")


FAMILIES: dict[str, tuple[str, tuple[str, ...], Callable[[Path], Json]]] = {
    "gpt": ("openai/gpt-4.1", families.APPLY_PATCH, by_patch),
    "gemini": ("openai/gemini-2.5-pro", families.GEMINI, by_edit),
    "others": ("openai/claude-sonnet-5", families.USUAL, by_editor),
}


async def agent_for(name: str, home: Path, model: ScriptedModel) -> Agent:
    given = {"LLM_MODEL": name, "LLM_API_KEY": "sk-x-y-z", "LLM_BASE_URL": model.url}
    argv = [*ARGV, "--override-with-envs"]
    agent = await Agent.start(argv, environment=surroundings(home, **given), forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    return agent


def diffs(call: Json) -> list[tuple[str, str | None, str]]:
    parts = [part for part in call.get("content") or [] if part["type"] == "diff"]
    return [(os.path.basename(p["path"]), p["oldText"], p["newText"]) for p in parts]


@pytest.mark.parametrize(
    "family", ["gpt", "gemini", pytest.param("others", marks=pytest.mark.long)]
)
async def test_every_editor_shows_the_same_edit_as_the_same_diff(
    agent_home: Path, model: ScriptedModel, tmp_path: Path, family: str
) -> None:
    name, editors, edit = FAMILIES[family]
    agent = await agent_for(name, agent_home, model)
    try:
        asked = allow_all(agent)
        session = await agent.new(str(tmp_path))
        path = tmp_path / "a.txt"
        path.write_bytes(OLD.replace("\n", "\r\n").encode())
        search = call("grep", pattern="two"), call("glob", pattern="*.txt")
        answer = await agent.turn(session, [*search, edit(path), {"text": "ok"}])
        assert stop_reason(answer) == "end_turn"
        assert path.read_bytes() == NEW.replace("\n", "\r\n").encode()
        [ask] = [each["toolCall"] for each in asked]  # nobody is asked about a search
        assert (ask["kind"], ask["title"]) == ("edit", "edit a.txt")
        assert ask["locations"] == [{"path": str(path)}]
        assert diffs(ask)[0][1] in ("two", "one\ntwo")
        found = calls(agent.news(session))
        assert [each["status"] for each in found] == ["completed"] * 3
        assert [each["kind"] for each in found] == ["search", "search", "edit"]
        assert str(path) in str(found[0]["rawOutput"])
        assert str(path) in str(found[1]["rawOutput"])
        assert diffs(found[2]) == [("a.txt", OLD, NEW)]
        tools = model.asked[-1].body["tools"]
        offered = [tool.get("function", tool)["name"] for tool in tools]
        assert sorted(offered) == sorted([*ALL, *editors])
    finally:
        await agent.kill()


async def test_a_patch_is_judged_by_each_of_its_files(
    agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """Shown whole before it runs, with every file that it touches: a way out is seen."""
    agent = await agent_for("openai/gpt-4.1", agent_home, model)
    try:
        asked = allow_all(agent)
        session = await agent.new(str(tmp_path))
        (tmp_path / "old").write_text("x\n")
        (tmp_path / "gone").write_text("bye\n")
        both = patch(
            *("*** Add File: new", "+hello", "*** Delete File: gone"),
            *("*** Update File: old", "*** Move to: moved", "@@", "-x", "+y"),
        )
        out = patch("*** Add File: inside", "+x", "*** Add File: /etc/rookery-test", "+x")
        await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
        await agent.turn(session, [both, out, {"text": "ok"}])
        assert sorted(path.name for path in tmp_path.iterdir()) == ["moved", "new"]
        first, second = calls(agent.news(session))
        assert first["title"] == "create new and 2 more files"
        shown = [("gone", "bye\n", ""), ("moved", "x\n", "y\n"), ("new", None, "hello")]
        assert sorted(diffs(first)) == shown
        places = {os.path.basename(each["path"]) for each in first["locations"]}
        assert places == {"new", "gone", "old", "moved"}
        assert [each["toolCall"]["toolCallId"] for each in asked] == [second["toolCallId"]]
        assert second["status"] == "failed"  # the tool itself stays in the directory
        assert "No file was changed." in str(second["rawOutput"])
    finally:
        await agent.kill()


async def test_a_search_runs_no_program(agent: Agent, tmp_path: Path) -> None:
    """A pattern is none of `rg`'s options, and one that leads out is asked about."""
    asked = allow_all(agent)
    session = await agent.new(str(tmp_path))
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    program.write_text(program.read_text() + f"# --pre={program}\n")
    steps = [call("grep", pattern=f"--pre={program}"), call("glob", pattern="/etc/host*")]
    here = os.getcwd()
    await agent.turn(session, [*steps, {"text": "ok"}])
    assert not (tmp_path / "ran").exists()
    [found, *_] = calls(agent.news(session))
    assert found["rawOutput"]["matches"] == [str(program)]
    assert [each["toolCall"]["title"] for each in asked] == ["find files /etc/host*"]
    assert os.getcwd() == here


@pytest.mark.parametrize(
    ("given", "place"),
    [("*.py", ""), ("/etc/x/*.py", "/etc/x"), ("../*.py", "/w/.."), ("a/../../b", "/w/a/../../b")],
)
async def test_a_search_patterns_location_is_where_it_leads(given: str, place: str) -> None:
    found = Call("glob", {"pattern": given}, "/w").locations()
    assert found == ([{"path": os.path.normpath(place)}] if place else [])
