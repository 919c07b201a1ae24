"""Rookery's own agent in a directory that is an enemy: nothing that lies there runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.agent.conftest import warm_up
from tests.agent.test_under_worker import SECONDS, surroundings
from tests.client.worktrees.traps import Enemy

SEARCH = {"call": {"name": "grep", "arguments": {"pattern": "b"}}}
LOOK = {"call": {"name": "glob", "arguments": {"pattern": "*.txt"}}}


@pytest.mark.long
@pytest.mark.parametrize("warm", [True, False])
def test_our_own_agent_runs_nothing_of_the_directory(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path, warm: bool
) -> None:
    """Its process, the warm one, its search, its skills, a turn in plan mode and its snapshots."""
    warm_up(home, model, agent_home)
    if not warm:
        with (home / "config.toml").open("a") as file:
            file.write("\n[agent]\nwarm = false\n")
    enemy = Enemy(tmp_path / "enemy", tmp_path / "notes", attributes="*.txt diff=trap\n")
    (home / "person").mkdir(exist_ok=True)
    given = surroundings(home, NO_COLOR="1")
    given |= {"PATH": f".::{given.get('PATH', os.environ['PATH'])}:", "PYTHONPATH": ".:"}
    play = json.dumps({"play": [SEARCH, LOOK, {"text": "all well"}]})
    for words in (["--yolo", play], ["--mode", "plan", play], ["--yolo", "/skills"]):
        done = subprocess.run(
            [sys.executable, "-I", "-m", "rookery", "run", "--agent", "rookery", *words],
            cwd=enemy.place,
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert enemy.ran == [], words
