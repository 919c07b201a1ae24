"""P11, I17.2: what looks harmless when it is judged, and is not when it runs."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.acp.driving import Agent
from tests.agent.driving import allow_all, calls, edit, run, shown

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOW = {"security_risk": "LOW"}


async def test_P11_an_empty_input_is_the_enter_key(agent: Agent, tmp_path: Path) -> None:
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


async def test_P11_a_link_that_is_put_in_the_way_of_an_edit(agent: Agent, tmp_path: Path) -> None:
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


async def test_I17_2_a_pipe_or_a_huge_file_is_not_read(agent: Agent, tmp_path: Path) -> None:
    """A tool that reads one would not end, and no cancel could end it."""
    session = await agent.new(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(50_000_000_000)
    looks = [
        {"call": {"name": "file_editor", "arguments": {"command": "view", "path": str(path)}}}
        for path in (tmp_path / "pipe", tmp_path / "huge")
    ]
    search = {"call": {"name": "grep", "arguments": {"pattern": "x"}}}
    await agent.turn(session, [*looks, search, {"text": "ok"}])
    said = [shown(call) for call in calls(agent.news(session))]
    assert "not a file" in said[0]
    assert "50000 MB" in said[1]
