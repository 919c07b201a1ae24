"""A race from a terminal: started, compared, one picked."""

import json
import sys
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from tests.client.work_tree.trees import WHO, Tree
from tests.tui.tmux import Tmux

PLAY = [sys.executable, "-m", "rookery", "play"]


def test_a_race_is_started_compared_and_decided(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    lines = []
    for name in ("good", "bad"):
        script = home / f"{name}.json"
        script.write_text(json.dumps({"otherwise": [{"write": "a.txt", "content": f"{name}\n"}]}))
        lines += [f"[agents.{name}]", f"command = {json.dumps([*PLAY, str(script)])}"]
    lines += ["[session]", 'confirm = "all"']
    (home / "config.toml").write_text("\n".join(lines) + "\n")
    with Tmux(home, size=(100, 30), cwd=tree.place) as screen:
        screen.ready()
        screen.say("/race good,nobody")
        screen.wait_for("Name the agents, separated by commas")
        screen.press("C-c")
        screen.wait_for("Write here")
        screen.say("/race good,bad,nobody Make it good")
        screen.wait_for("Started 2 agents", "Skipping nobody: no such agent")
        screen.wait_for("● idle")
        while True:
            screen.say("/race")
            shown = screen.wait_for("Race ", "Drop all")
            if shown.count("done · 1 file +1 −1") == 2:
                break
            screen.press("Escape")
            screen.wait_without("Drop all")
        screen.press("Enter")
        screen.wait_for("Pick it as one commit")
        screen.press("Down", "Enter")
        screen.wait_for("1 file, +1 −1, into main. Commit message:", "Change a.txt")
        screen.press("Enter")
        screen.wait_for("Pick the winner", "Delete 1 worktree with all changes:", "bad  1 file")
        screen.press("y")
        screen.wait_for("Merged into main: 1 file, +1 −1", "Dropped 1 other.")
    assert tree.git("log", "-1", "--format=%B").strip() == "Change a.txt"
    assert tree.read("a.txt") == b"good\n"
    assert tree.git("worktree", "list").count("\n") == 1
    assert sorted(head["archived"] for head in heads(str(home))) == [False, True]
