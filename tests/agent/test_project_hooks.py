"""A cloned repository runs nothing unasked: its hooks run once the user trusts them, as they were
seen."""

import json
from pathlib import Path

import pytest

from rookery.core.policy.hook_asks import TOOL
from rookery.home import confirmed
from tests.acp.driving import Agent, Json
from tests.agent.driving import ALLOW, REJECT, answer_all, run, stop_reason
from tests.agent.test_surroundings import hook

pytestmark = pytest.mark.asyncio(loop_scope="session")

KINDS = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop")
NEVER = {"outcome": {"outcome": "selected", "optionId": "reject-always"}}
HI: list[Json] = [{"text": "hi"}]


@pytest.fixture(autouse=True)
def nothing_waits(agent_home: Path) -> None:
    """Other tests of the shared agent leave settings there that wait for the user. What is
    trusted waits, too, where no record says who trusted it."""
    for name in (confirmed.TRUSTED, confirmed.FILE):
        (agent_home / name).unlink(missing_ok=True)


async def choose(agent: Agent, session: str, mode: str) -> None:
    params = {"sessionId": session, "configId": "mode", "value": mode}
    await agent.call("session/set_config_option", **params)


def asked_about_hooks(asked: list[Json]) -> list[str]:
    """The commands that were shown, ask by ask."""
    calls = [each["toolCall"] for each in asked]
    return [call["rawInput"]["command"] for call in calls if call.get("name") == TOOL]


@pytest.mark.parametrize("mode", ["always-ask", "always-approve", "plan"])
@pytest.mark.parametrize("folder", [".openhands", ".rookery"])
async def test_nothing_of_a_project_runs_unasked(
    agent: Agent, tmp_path: Path, mode: str, folder: str
) -> None:
    """In every mode the user is asked first, and sees every command."""
    hook(tmp_path, **{kind: f"echo {kind} >> ran" for kind in (*KINDS, "session_end")})
    (tmp_path / ".rookery").rename(tmp_path / folder)
    asked = answer_all(agent, REJECT)
    session = await agent.new(str(tmp_path))
    await choose(agent, session, mode)
    assert stop_reason(await agent.turn(session, [run("ls"), *HI])) == "end_turn"
    [shown] = asked_about_hooks(asked)
    assert all(f"# {kind}\necho {kind} >> ran" in shown for kind in KINDS)
    await agent.call("session/close", sessionId=session)
    assert not (tmp_path / "ran").exists()


async def test_trusted_hooks_run_and_are_asked_about_once(agent: Agent, tmp_path: Path) -> None:
    """By what they are: an edit of a file that they name asks again."""
    script = tmp_path / "check.sh"
    script.write_text("echo one >> ran\n")
    hook(tmp_path, stop="bash check.sh")
    asked = answer_all(agent, ALLOW)
    for _ in range(2):
        session = await agent.new(str(tmp_path))
        await agent.turn(session, HI)
    assert len(asked_about_hooks(asked)) == 1
    assert "check.sh" in asked_about_hooks(asked)[0]
    assert (tmp_path / "ran").read_text() == "one\none\n"
    script.write_text("echo two >> ran\n")
    answer_all(agent, REJECT)
    await agent.turn(session, HI)
    assert (tmp_path / "ran").read_text() == "one\none\n"
    asked = answer_all(agent, NEVER)
    await agent.turn(session, HI)
    assert len(asked_about_hooks(asked)) == 1
    session = await agent.new(str(tmp_path))
    await agent.turn(session, HI)
    assert len(asked_about_hooks(asked)) == 1, "no is remembered, too"
    assert (tmp_path / "ran").read_text() == "one\none\n"


async def test_a_safeguard_that_changes_under_way_lets_nothing_pass(
    agent: Agent, tmp_path: Path
) -> None:
    """What an agent made of its script does not run, and what it guards is not done."""
    (tmp_path / "guard.sh").write_text("exit 0\n")
    hook(tmp_path, pre_tool_use="sh ./guard.sh")
    answer_all(agent, ALLOW)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("touch first; echo 'touch evil' > guard.sh"), *HI])
    await agent.turn(session, HI)
    (tmp_path / "guard.sh").write_text("exit 0\n")
    steps = [run("echo 'touch evil' > guard.sh"), run("touch second"), *HI]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    assert (tmp_path / "first").exists()
    assert not (tmp_path / "second").exists()
    assert not (tmp_path / "evil").exists()


async def test_what_the_user_forgets_no_longer_runs_in_an_open_session(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """In the middle of a turn: what a safeguard of theirs guards is not done either, since it may
    be an agent that removed the trust. The next prompt asks."""
    hook(tmp_path, pre_tool_use="echo guard >> ran", stop="echo stop >> ran")
    asked = answer_all(agent, ALLOW)
    session = await agent.new(str(tmp_path))
    steps = [run(f"rm {agent_home / confirmed.TRUSTED}"), run("touch second"), *HI]
    await agent.turn(session, steps)
    assert (tmp_path / "ran").read_text() == "guard\n"
    assert not (tmp_path / "second").exists()
    await agent.turn(session, HI)
    assert len(asked_about_hooks(asked)) == 2
    assert (tmp_path / "ran").read_text() == "guard\nstop\n"


async def test_in_plan_mode_a_trusted_project_may_only_refuse(agent: Agent, tmp_path: Path) -> None:
    say = "echo {0} >> ../ran-{0}; exit {1}"
    hook(tmp_path, **{kind: say.format(kind, 2 if kind == "pre_tool_use" else 0) for kind in KINDS})
    asked = answer_all(agent, ALLOW)
    session = await agent.new(str(tmp_path))
    await choose(agent, session, "plan")
    await agent.turn(session, [run("ls"), *HI])
    assert len(asked_about_hooks(asked)) == 1
    ran = {each.name for each in tmp_path.parent.glob("ran-*")}
    assert ran == {"ran-pre_tool_use"}


async def test_hooks_that_come_during_a_session_are_asked_about(
    agent: Agent, tmp_path: Path
) -> None:
    asked = answer_all(agent, ALLOW)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, HI)
    assert asked == []
    (tmp_path / ".rookery").mkdir()
    table = {"stop": [{"hooks": [{"command": "touch ran"}]}]}
    (tmp_path / ".rookery" / "hooks.json").write_text(json.dumps(table))
    await agent.turn(session, HI)
    assert len(asked_about_hooks(asked)) == 1
    assert (tmp_path / "ran").exists()
