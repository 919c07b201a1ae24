"""Worktrees by hand: a session on a copy, its work merged; a race of scripted agents."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import Running, Terminal, play, rookery
from tests.client.work_tree.trees import WHO, Tree

PLAY = [sys.executable, "-m", "rookery", "play"]


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "unser Häuschen", a__txt="one\n", b__txt="b\n")


def head_of(session: str) -> dict[str, Any]:
    lines = rookery("ps", "--all", "--json").out.splitlines()
    return next(head for head in map(json.loads, lines) if head["id"] == session)


def nothing_is_left(home: Path, tree: Tree) -> None:
    assert tree.git("worktree", "list").count("\n") == 1
    assert tree.git("branch", "--list", "rookery/*") == ""
    assert os.listdir(home / "worktrees") == []


def test_a_session_works_on_a_copy_and_its_work_is_merged(home: Path, tree: Tree) -> None:
    mine = f"{shlex.join([*PLAY[:3], 'merge'])} $(basename $(dirname $PWD)) 2>&1"
    work = play(
        {"command": "echo two >> a.txt; git commit -qam work; echo new > 'n ü.txt'"},
        {"command": mine},
        {"text": "$output"},
    )
    done = rookery("run", "--agent", "demo", "--worktree", "login", work, cwd=tree.place)
    assert done.code == 0, done.err
    assert "An agent cannot merge" in done.out
    assert tree.read("a.txt") == b"one\n"
    diff = rookery("diff", cwd=tree.place)
    assert "+two\n" in diff.out
    assert "+++ b/n ü.txt" in diff.out
    assert "\x1b" not in diff.out
    stat = rookery("diff", "--stat", cwd=tree.place).out
    assert stat.splitlines()[-1] == "2 files, +2 −0"
    assert "rookery/login" in rookery("ps", COLUMNS="200").out
    session = json.loads(rookery("ps", "--json").out)["id"]
    kept = rookery("remove", "--yes", session)
    assert kept.code == 2, "--force is missing"
    assert "1 commit and 1 uncommitted file" in kept.err
    merged = rookery("merge", "-m", "the rest", cwd=tree.place)
    assert merged.code == 0, merged.err
    assert "Merged into main: 2 files" in merged.err
    assert tree.git("log", "--format=%s").split("\n")[:2] == ["the rest", "work"]
    assert head_of(session)["worktree"]["state"] == "merged"
    gone = rookery("prompt", session, "--wait", "more")
    assert "worktree was merged and is gone" in gone.out + gone.err
    removed = rookery("remove", "--yes", session)
    assert removed.code == 0
    assert "could not be" not in removed.err
    nothing_is_left(home, tree)


def test_a_session_moves_to_a_worktree_with_what_it_changed(home: Path, tree: Tree) -> None:
    """What others changed in the old directory stays there; the session goes on, and merges."""
    tree.put({"others.txt": "not mine\n"})
    work = play({"command": "echo two >> a.txt; rm b.txt; mkdir -p d && echo new > d/n.txt"})
    assert rookery("run", "--agent", "demo", work, cwd=tree.place).code == 0
    session = json.loads(rookery("ps", "--json").out)["id"]
    moved = rookery("move", session, "--name", "apart")
    assert moved.code == 0, moved.err
    assert "(rookery/apart)" in moved.err
    assert "3 changed files copied" in moved.err
    head = head_of(session)
    place = Path(head["cwd"])
    assert (place / "a.txt").read_text() == "one\ntwo\n"
    assert (place / "d/n.txt").read_text() == "new\n"
    assert not (place / "b.txt").exists()
    assert not (place / "others.txt").exists()
    assert tree.read("a.txt") == b"one\ntwo\n"
    again = rookery("move", session)
    assert "already has a worktree: rookery/apart" in again.err
    assert again.code != 0
    done = rookery("prompt", session, "--wait", play({"command": "pwd"}, {"text": "$output"}))
    assert str(place) in done.out
    tree.git("checkout", "-q", "--", ".")
    (tree.place / "d/n.txt").unlink()
    merged = rookery("merge", session, "-m", "mine")
    assert "Merged into main: 3 files" in merged.err
    assert tree.read("others.txt") == b"not mine\n"


@pytest.mark.long
def test_a_running_turn_is_cancelled_before_its_session_moves(home: Path, tree: Tree) -> None:
    work = play({"text": "at work"}, {"until": "cancel"})
    session = rookery("new", "--agent", "demo", cwd=tree.place).out.strip()
    assert rookery("prompt", session, work).code == 0
    refused = rookery("move", session)
    assert "in the middle of a turn" in refused.err
    assert rookery("move", session, "--cancel").code == 0
    assert head_of(session)["reason"] == "cancelled"
    assert head_of(session)["cwd"] != str(tree.place)


def test_of_several_words_none_is_a_name(home: Path, tree: Tree) -> None:
    """`rookery run --worktree fix the login` is a task, not a branch called fix."""
    for words, branch, task in (
        (["--worktree", "fix", "the", "login"], "", "fix the login"),
        (["--worktree=fix", "the", "login"], "rookery/fix", "the login"),
        (["--worktree", "parser", "the login"], "rookery/parser", "the login"),
    ):
        done = rookery("run", "--agent", "demo", *words, cwd=tree.place)
        assert done.code in (0, 3), done.err
        assert (branch in done.err) if branch else ("branch:" not in done.err)
        newest = max(map(json.loads, rookery("ps", "--json").out.splitlines()), key=_created)
        assert f"{task}\n" in rookery("show", newest["id"]).out
        found = newest["worktree"]["branch"]
        assert found == branch or (not branch and found == f"rookery/{newest['id']}")
        assert rookery("remove", "--yes", "--force", newest["id"]).code == 0
    nothing_is_left(home, tree)


def _created(row: dict[str, Any]) -> int:
    return int(row["created"])


def test_a_terminal_asks_for_the_message_and_before_work_is_lost(home: Path, tree: Tree) -> None:
    made = rookery("new", "--agent", "demo", "--worktree", "--title", "My plan", cwd=tree.place)
    session = made.out.strip()
    top = Path(head_of(session)["cwd"])
    (top / "c.txt").write_text("c\n")
    with Terminal("remove", session) as terminal:
        terminal.read_until("to the trash?")
        terminal.type("y\n")
        terminal.read_until("that was not merged")
        terminal.read_until("with that work?")
        terminal.type("n\n")
        assert terminal.end().code == 130
    with Terminal("merge", session) as terminal:
        shown = terminal.read_until("Enter to take it, or type another")
        assert "1 file, +1 −0, into main. Commit message:\r\n  Add c.txt\r\n" in shown
        terminal.type("Plan done\n")
        assert terminal.end().code == 0
    assert tree.git("log", "-1", "--format=%s") == "Plan done\n"
    nothing_is_left(home, tree)


def test_what_cannot_be_is_said(home: Path, tree: Tree, tmp_path: Path) -> None:
    bare = tmp_path / "none"
    bare.mkdir()
    refused = rookery("new", "--agent", "demo", "--worktree", cwd=bare)
    assert refused.code == 1
    assert "is not in a git repository" in refused.err
    assert rookery("ps", "--json").out == ""
    session = rookery("new", "--agent", "demo", cwd=tree.place).out.strip()
    assert "has no worktree" in rookery("merge", session).err
    assert "has no session with a worktree" in rookery("merge", cwd=tree.place).err


def racers(home: Path, **steps: list[dict[str, Any]]) -> None:
    lines = ["[critic]", 'command = "grep -q good a.txt"']
    for name, script in steps.items():
        path = home / f"{name}.json"
        path.write_text(json.dumps({"otherwise": script}))
        lines += [f"[agents.{name}]", f"command = {json.dumps([*PLAY, str(path)])}"]
    lines += ["[agents.broken]", 'command = ["/no/such/program"]']
    (home / "config.toml").write_text("\n".join(lines) + "\n")


GOOD = [
    {"write": "a.txt", "content": "one\ngood\n"},
    {"command": "git commit -qam 'Make it good'"},
    {"usage": 1200, "size": 10000, "cost": 0.25},
]
BAD = [{"write": "a.txt", "content": "bad\n"}, {"write": "x ü.txt", "content": "1\n2\n"}]


def test_a_race_of_three_is_compared_and_one_is_merged(home: Path, tree: Tree) -> None:
    """And one that cannot start does not hold up the others."""
    racers(home, good=GOOD, bad=BAD, idle=[{"text": "Nothing to do."}])
    agents = "good,bad,broken,idle"
    done = rookery("race", "--agents", agents, "Make it good", cwd=tree.place)
    assert done.code == 0, done.err
    assert "Skipping broken: broken is not installed" in done.err
    lines = rookery("race", "show", "--json").out.splitlines()
    rows = {row["agent"]: row for row in map(json.loads, lines)}
    keys = ("state", "files", "added", "removed", "tests")
    assert {name: [row[key] for key in keys] for name, row in rows.items()} == {
        "good": ["done", 1, 1, 0, "passed"],
        "bad": ["done", 2, 3, 1, "failed"],
        "idle": ["done", 0, 0, 0, "failed"],
    }
    assert rows["good"]["cost"] == {"USD": 0.25}
    assert rows["good"]["tokens"] == 1200
    assert "passed" in done.out
    # A conflict is told, and nothing is dropped.
    tree.put({"a.txt": "mine\n"})
    tree.save()
    titles = {name: head_of(row["session"])["title"] for name, row in rows.items()}
    assert titles["good"] == "good: Make it good"
    assert len(set(titles.values())) == 3
    nothing = rookery("race", "pick", rows["idle"]["session"], "--yes")
    assert "changed nothing" in nothing.err
    assert nothing.code == 1
    assert done.out.count("changed nothing") == 1
    refused = rookery("race", "pick", rows["bad"]["session"], "--yes")
    assert refused.code == 1
    assert "Conflict with main in " in refused.err
    assert tree.git("worktree", "list").count("\n") == 4
    tree.git("reset", "-q", "--hard", "HEAD~1")
    picked = rookery("race", "pick", rows["good"]["session"], "--yes")
    assert picked.code == 0, picked.err
    assert tree.git("log", "-1", "--format=%s") == "Make it good\n"
    assert [head_of(rows[name]["session"])["archived"] for name in rows] == [False, True, True]
    nothing_is_left(home, tree)


def test_a_conflict_is_resolved_by_the_agent_that_made_it(home: Path, tree: Tree) -> None:
    """It is asked in its own worktree; then the merge succeeds."""
    work = play({"command": "echo theirs > a.txt; git commit -qam theirs"})
    assert rookery("run", "--agent", "demo", "--worktree", work, cwd=tree.place).code == 0
    session = json.loads(rookery("ps", "--json").out)["id"]
    tree.put({"a.txt": "mine\n"})
    tree.save()
    refused = rookery("merge", session)
    assert refused.code == 1
    assert "--ask-agent" in refused.err
    asked = rookery("merge", session, "--ask-agent")
    assert asked.code == 0, asked.err
    assert f"When it is done: rookery merge {session}" in asked.err
    said = rookery("show", session).out
    assert "Your work conflicts with main: a.txt." in said
    assert f"git merge {tree.git('rev-parse', 'HEAD')[:12]}" in said
    again = play({"command": "git merge -q main; echo both > a.txt; git commit -qam both"})
    assert rookery("prompt", session, "--wait", "--approve", "all", again).code == 0
    assert "Merged into main" in rookery("merge", session).err
    assert tree.read("a.txt") == b"both\n"


def test_a_commit_says_what_changed_not_what_was_asked_for(home: Path, tree: Tree) -> None:
    """Also where the word `start` is written, and off a terminal."""
    racers(home, bad=BAD, worse=BAD)
    race = ("race", "start", "--agents", "bad,worse", "Make it", "good")
    done = rookery(*race, cwd=tree.place)
    sessions = [
        json.loads(row)["session"]
        for row in rookery("race", "show", "--json").out.split("\n")
        if row
    ]
    assert "Make it good" in rookery("show", sessions[0]).out
    assert "start Make" not in rookery("show", sessions[0]).out
    dry = rookery("race", "pick", sessions[0])
    assert "  Add x ü.txt, change a.txt" in dry.err
    assert "Nothing was done." in dry.err
    assert tree.git("log", "--format=%s").count("\n") == 1, done.err
    picked = rookery("race", "pick", sessions[0], "--yes")
    assert picked.code == 0, picked.err
    message = "Add x ü.txt, change a.txt\n\n- add x ü.txt\n- change a.txt\n"
    assert tree.git("log", "-1", "--format=%B").strip() == message.strip()
    assert "Git hooks did not run, and nothing was pushed." in picked.err
    assert "-m TEXT gives another message" in picked.err
    nothing_is_left(home, tree)


@pytest.mark.long
def test_a_race_goes_on_without_the_one_who_started_it(home: Path, tree: Tree) -> None:
    hold = home / "hold"
    os.mkfifo(hold)
    racers(home, slow=[{"command": f"cat {shlex.quote(str(hold))} > a.txt"}])
    with Running("race", "--cwd", str(tree.place), "--agents", "slow,slow", "Be good") as started:
        started.read_err_until("Started slow")
        started.read_err_until("Started slow")
        started.signal()
        left = started.end()
    assert left.code == 130
    assert "The race goes on." in left.err
    name = json.loads(rookery("race", "show", "--json").out.splitlines()[0])["race"]
    assert "running" in rookery("race", "show", name).out
    assert rookery("race", "drop", name, "--yes").code == 0
    nothing_is_left(home, tree)


def test_a_worktree_stays_while_another_session_works_in_it(home: Path, tree: Tree) -> None:
    work = play({"command": "echo two >> a.txt"})
    rookery("run", "--agent", "demo", "--worktree", "login", work, cwd=tree.place)
    session = json.loads(rookery("ps", "--json").out)["id"]
    fork = rookery("fork", session).out.strip()
    works = f"Session {fork} works there, too."
    merged = rookery("merge", session, "--yes")
    assert f"The worktree stays. {works}" in " ".join(merged.err.split()), merged.err
    assert tree.read("a.txt") == b"one\ntwo\n"
    assert "Heard" in rookery("prompt", fork, "--wait", play({"text": "Heard"})).out
    for line in ("drop", "remove --yes", "remove --yes --permanently"):
        refused = rookery(*line.split(), session)
        assert refused.code == 2, line
        assert f"Session {fork} works in the worktree of session {session}, too." in " ".join(
            refused.err.split()
        )
    assert rookery("remove", "--yes", fork).code == 0
    assert rookery("drop", session).code == 0
    nothing_is_left(home, tree)


def test_a_fork_in_a_worktree_has_the_files_of_its_turn(home: Path, tree: Tree) -> None:
    """The first session goes on in its directory; nothing of it is touched."""
    first = play({"write": "a.txt", "content": "first\n"}, {"write": "new", "content": "n\n"})
    assert rookery("run", "--agent", "demo", first, cwd=tree.place).code == 0
    (session,) = [json.loads(line)["id"] for line in rookery("ps", "--json").out.splitlines()]
    second = play({"write": "a.txt", "content": "second\n"})
    assert rookery("prompt", session, "--wait", second).code == 0
    made = rookery("fork", session, "1", "--worktree")
    assert made.code == 0, made.err
    top = Path(head_of(made.out.strip())["cwd"])
    assert str(top) in made.err
    assert ((top / "a.txt").read_text(), (top / "new").read_text()) == ("first\n", "n\n")
    assert tree.read("a.txt") == b"second\n"
    assert rookery("remove", "--yes", "--force", made.out.strip()).code == 0
    nothing_is_left(home, tree)


@pytest.mark.parametrize("way", ["new", "run", "race", "fork"])
def test_a_terminal_asks_before_a_worktree_needs_a_program_that_only_the_repository_names(
    home: Path, tree: Tree, way: str
) -> None:
    tree.put({".gitattributes": "*.txt filter=up\n"})
    tree.save()
    tree.git("config", "filter.up.clean", "tr A-Z a-z")
    tree.git("config", "filter.up.smudge", "tr a-z A-Z")
    place = ("--cwd", tree.cwd)
    source = rookery("new", "--agent", "demo", *place).out.strip()
    words = {
        "new": ("new", "--agent", "demo", *place, "--worktree"),
        "run": ("run", "--agent", "demo", *place, "--worktree=x", play({"text": "done"})),
        "race": ("race", "--agents", "demo,demo", *place, play({"text": "done"})),
        "fork": ("fork", source, "0", "--worktree"),
    }[way]
    without = rookery(*words)
    assert "rookery config trust-git" in without.err
    with Terminal(*words) as terminal:
        assert "clean = tr A-Z a-z" in terminal.read_until("[y/N]")
        terminal.type("n\n")
        refused = terminal.end()
    assert refused.code != 0
    assert refused.out.count("[y/N]") == 1
    nothing_is_left(home, tree)
    with Terminal(*words) as terminal:
        terminal.read_until("[y/N]")
        terminal.type("y\n")
        agreed = terminal.end()
    assert agreed.code == 0, agreed.out
    assert agreed.out.count("[y/N]") == 1
    made = list((home / "worktrees").glob("*/*/a.txt"))
    assert [each.read_text() for each in made] == ["ONE\n"] * (2 if way == "race" else 1)
