"""What looks harmless when it is judged, and is not when it runs."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.acp.driving import Agent
from tests.agent.driving import (
    REJECT,
    allow_all,
    answer_all,
    calls,
    edit,
    run,
    shown,
    status,
    stop_reason,
    words,
)
from tests.agent.test_subagents import task

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOW = {"security_risk": "LOW"}


async def test_an_empty_input_counts_as_the_enter_key(agent: Agent, tmp_path: Path) -> None:
    """Which may be a yes: the user is asked, and plan mode types nothing."""
    people = allow_all(agent)
    session = await agent.new(str(tmp_path))
    yes = run("read answer && touch yes", timeout=0.5, **LOW)
    await agent.turn(session, [yes, run("", is_input=True, **LOW), {"text": "ok"}])
    assert len(people) == 2
    assert (tmp_path / "yes").exists()
    await agent.call("session/set_mode", sessionId=session, modeId="plan")
    (tmp_path / "log").write_text("one\n")
    steps = [run("tail -f log", timeout=0.5, **LOW), run("ls", is_input=True, **LOW)]
    await agent.turn(session, [*steps, run("C-c", is_input=True), {"text": "ok"}])
    assert len(people) == 2
    assert "nothing is typed into a program" in shown(calls(agent.news(session))[1])


async def test_an_edit_is_judged_again_when_a_link_was_put_in_its_way(
    agent: Agent, tmp_path: Path
) -> None:
    """Both were judged before either ran, and the edit was judged by where it led then."""
    allow_all(agent)
    outside = Path(tempfile.mkdtemp(prefix="rkj-", dir="/var/tmp"))
    try:
        session = await agent.new(str(tmp_path))
        await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
        link = run(f"ln -s {outside}/a here", **LOW)
        step = {"calls": [link["call"], edit(tmp_path / "here", "x")["call"]]}
        await agent.turn(session, [step, {"text": "ok"}])
        assert (tmp_path / "here").is_symlink()
        assert not (outside / "a").exists()
        assert "changed after this was judged" in shown(calls(agent.news(session))[1])
    finally:
        shutil.rmtree(outside)


async def test_a_command_is_judged_where_it_runs(agent: Agent, tmp_path: Path) -> None:
    """An earlier one led the terminal out of the session's directories, or the one before it in the
    same step does: what is written there asks in every mode."""
    people = answer_all(agent, REJECT)
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
    out, here = run("cd /", **LOW), run(f"cd {tmp_path}", **LOW)
    both = {"calls": [out["call"], run("echo 2 > b", **LOW)["call"]]}
    steps = [run("echo 0 > a", **LOW), out, run("echo 1 > a", **LOW), here, both]
    await agent.turn(session, [*steps, {"text": "ok"}])
    titles = [each["toolCall"]["title"] for each in people]
    assert titles == ["run echo 1 > a", "run echo 2 > b"]


async def test_a_pipe_or_a_huge_file_is_not_read(agent: Agent, tmp_path: Path) -> None:
    """A tool that reads one would not end, and no cancel could end it."""
    session = await agent.new(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(50_000_000_000)
    looks = [
        {"call": {"name": "file_editor", "arguments": {"command": "view", "path": str(path)}}}
        for path in (tmp_path / "pipe", tmp_path / "huge", tmp_path / "nu\0ll")
    ]
    search = {"call": {"name": "grep", "arguments": {"pattern": "x"}}}
    await agent.turn(session, [*looks, search, {"text": "ok"}])
    said = [shown(call) for call in calls(agent.news(session))]
    assert "not a file" in said[0]
    assert "50000 MB" in said[1]
    assert "null" in said[2]


async def test_plugins_and_sub_agents_of_a_repository_are_not_run(
    agent: Agent, tmp_path: Path
) -> None:
    """A plugin of the SDK's, with hooks and a server, and a sub-agent with hooks: nobody judged
    their commands."""
    people = allow_all(agent)
    ran = {"command": f"echo x >> {tmp_path}/ran"}
    moments = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    hooks = {moment: [{"matcher": "*", "hooks": [ran]}] for moment in moments}
    plugin = tmp_path / ".agents" / "plugins" / "kind"
    for place in (".claude-plugin", ".plugin", "hooks"):
        (plugin / place).mkdir(parents=True)
    about = {"name": "kind", "version": "1.0.0", "description": "A kind one."}
    for place in (".claude-plugin", ".plugin"):
        (plugin / place / "plugin.json").write_text(json.dumps(about))
    (plugin / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    server = {"command": "sh", "args": ["-c", ran["command"]]}
    (plugin / ".mcp.json").write_text(json.dumps({"mcpServers": {"kind": server}}))
    helper = tmp_path / ".agents" / "agents" / "helper.md"
    helper.parent.mkdir(parents=True)
    given = {"name": "helper", "description": "helps", "tools": ["terminal"], "hooks": hooks}
    text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in given.items())
    helper.write_text(f"---\n{text}\n---\nHelp.\n")
    session = await agent.new(str(tmp_path))
    below = task([run("echo below", **LOW), {"text": "did it"}], subagent_type="helper")
    await agent.turn(session, [below, {"text": "ok"}])
    assert [each["toolCall"]["title"] for each in people] == ["task: below", "run echo below"]
    assert not (tmp_path / "ran").exists()


async def test_a_call_beside_finish_is_not_left_pending(agent: Agent, tmp_path: Path) -> None:
    """`finish` and a command in one answer: the SDK drops the command."""
    session = await agent.new(str(tmp_path))
    finish = {"name": "finish", "arguments": {"message": "over"}}
    step = {"calls": [finish, run("touch late", **LOW)["call"]]}
    await agent.turn(session, [step])
    [late] = calls(agent.news(session))
    assert (late["status"], (tmp_path / "late").exists()) == ("failed", False)
    assert "not carried out" in shown(late)


async def test_an_endless_wait_and_unread_input_can_be_cancelled(
    agent: Agent, tmp_path: Path
) -> None:
    """Neither breaks the terminal, and a cancel ends both. What bash reads as another word than
    the judge did is not run."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    endless = {"name": "terminal", "arguments": '{"command": "echo 1", "timeout": 1e999}'}
    await agent.turn(session, [{"call": endless}, run("tou\0ch null", **LOW), {"text": "ok"}])
    assert [each["status"] for each in calls(agent.news(session))] == ["completed", "failed"]
    assert not (tmp_path / "null").exists()
    much = {**run("no\n" * 10_000, is_input=True, **LOW), "chunks": 4}
    id = agent.prompt(session, [run("sleep 600", timeout=0.5, **LOW), much, {"text": "never"}])
    await status(agent, "in_progress")
    await status(agent, "in_progress")
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(id)) == "cancelled"
    await agent.turn(session, [run("echo alive", **LOW), {"text": "ok"}])
    assert "alive" in shown(calls(agent.news(session))[-1])


async def test_unreadable_arguments_go_back_to_the_model(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    deep, long = "[" * 20_000 + "]" * 20_000, "9" * 5_000
    odd = [f'{{"command": {deep}}}', f'{{"command": "ls", "timeout": {long}}}']
    steps = [{"call": {"name": "terminal", "arguments": each}, "chunks": 3} for each in odd]
    assert stop_reason(await agent.turn(session, [*steps, {"text": "went on"}])) == "end_turn"
    news = agent.news(session)
    assert [call["status"] for call in calls(news)] == ["failed"] * 2
    assert words(news) == "went on"
