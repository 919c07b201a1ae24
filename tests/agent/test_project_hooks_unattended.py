"""A project's hooks where nobody is asked, and who may answer for the user under a worker."""

import json
import os
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.client.project_hooks import hook_file, trust
from tests.agent.conftest import warm_up
from tests.agent.driving import run
from tests.agent.test_asks_under_worker import bird
from tests.agent.test_surroundings import hook
from tests.agent.test_under_worker import said
from tests.client.work_tree.trees import Tree
from tests.worker.aviary import Aviary, Bird, is_idle

__all__ = ["bird"]

PLAY = json.dumps({"play": [run("touch done"), {"text": "all well"}]})


def test_a_run_leaves_untrusted_hooks_out_and_stops_at_a_safeguard(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    """Exit 2 and nothing done, unless --without-hooks; once trusted, they run."""
    warm_up(home, model, agent_home)
    work = tmp_path / "work"
    work.mkdir()
    hook(work, pre_tool_use="touch guarded", stop="touch stopped")
    words = ("run", "--agent", "rookery", "--yolo")
    told = said(home, work, *words, PLAY, code=2)
    assert "--without-hooks" in told
    assert os.listdir(work) == [".rookery"]
    told = said(home, work, *words, "--without-hooks", PLAY)
    assert "not trusted, so they were left out" in told
    assert sorted(os.listdir(work)) == [".rookery", "done"]
    assert "touch guarded" in said(home, work, "policy", "hooks", "--trust")
    said(home, work, *words, PLAY)
    assert sorted(os.listdir(work)) == [".rookery", "done", "guarded", "stopped"]
    said(home, work, "policy", "hooks", "--forget")
    said(home, work, *words, PLAY, code=2)


@pytest.mark.long
def test_a_later_prompt_and_a_race_go_on_without_hooks_if_told(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    warm_up(home, model, agent_home)
    work = Tree(tmp_path / "work")
    hook(work.place, pre_tool_use="touch guarded")
    told = said(home, work.place, "run", "--agent", "rookery", "--json", "--yolo", PLAY, code=2)
    session = json.loads(told.splitlines()[0])["update"]["id"]
    words = ("prompt", "--wait", session)
    assert "--without-hooks" in said(home, work.place, *words, PLAY, code=2)
    said(home, work.place, *words, "--without-hooks", PLAY)
    assert (work.place / "done").exists()
    said(home, work.place, "set", session, "confirm", "every")
    asked = said(home, work.place, "prompt", session, "--without-hooks", PLAY, code=2)
    assert "In a script: --approve" in asked
    work.git("add", ".rookery")
    work.git("commit", "-qm", "hooks")
    said(home, work.place, "race", "--agents", "rookery", "--without-hooks", PLAY)
    assert len(list((home / "worktrees").glob("*/*/done"))) == 1
    assert not list(tmp_path.rglob("guarded"))


@pytest.mark.long
async def test_under_a_worker_the_users_yes_is_remembered_and_no_rule_says_it(
    bird: tuple[Aviary, Bird],
) -> None:
    """A rule that allows everything does not; the user's answer does, for good."""
    aviary, here = bird
    work = Path(here.header().cwd)
    hook(work, stop="touch stopped")
    Path(aviary.home, "config.toml").write_text(
        '[agent]\nwarm = false\n[[policy.rules]]\ndo = "allow"\nagent = ["rookery"]\n'
    )
    begun = await here.prompt("hi")
    ask = await here.ask(begun)
    assert "touch stopped" in str(ask["does"])
    assert not (work / "stopped").exists()
    await here.answer(ask, "allow-once")
    await here.until(is_idle, begun.seq)
    assert (work / "stopped").exists()
    seen = hook_file.find(aviary.home, str(work))
    assert seen
    assert trust.state(aviary.home, seen) == "trusted"
