"""The work of a worktree comes back whole or not at all, and nothing is lost in silence."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.client.worktrees import merge, upkeep
from rookery.client.worktrees.drop import Unmerged, unmerged
from rookery.client.worktrees.repository import NoWorktree
from rookery.operations.merging.session import (
    changes_of,
    drop_session,
    merge_session,
    plan_of,
)
from tests.client.work_tree.trees import WHO, Tree


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(
        tmp_path / "our häuser", a__txt="1\n2\n3\n4\n5\n", b__txt="b\n", __gitignore="*.o\n"
    )


class Copy:
    """A session's worktree, and git in it as an agent runs it."""

    def __init__(self, home: Path, tree: Tree, name: str = "") -> None:
        self.home, self.tree = str(home), tree
        self.session = create_session(
            self.home, agent="demo", argv=[], cwd=tree.cwd, worktree=name, title="My work"
        )
        self.place = Path(self.state["path"])

    @property
    def head(self) -> dict[str, Any]:
        found = fleet.head_of_session(self.home, self.session)
        assert found is not None
        return found

    @property
    def state(self) -> dict[str, Any]:
        found = self.head["worktree"]
        assert isinstance(found, dict)
        return found

    def git(self, *words: str) -> str:
        found = subprocess.run(["git", *words], cwd=self.place, check=True, capture_output=True)
        return found.stdout.decode()

    def put(self, name: str, text: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str = "work") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def merge(self, how: str = "merge", message: str = "", *, kept: bool = False) -> str:
        return merge_session(self.home, self.session, how, message, kept=kept)["commit"]

    def is_gone(self) -> bool:
        left = [self.place.exists(), *self.place.parent.parent.iterdir()]
        listed = self.tree.git("worktree", "list").count("\n") > 1
        return not any(left) and not listed and not self.tree.git("branch", "--list", "rookery/*")


@pytest.fixture
def copy(home: Path, tree: Tree) -> Copy:
    found = Copy(home, tree)
    found.put("a.txt", "1 agent\n2\n3\n4\n5\n")
    found.commit("first of two")
    found.put("new dir/ü.txt", "new\n")
    found.put("junk.o", "ignored\n")
    return found


def log_of(tree: Tree) -> list[str]:
    return tree.git("log", "--format=%s").splitlines()


@pytest.mark.parametrize("how", ["merge", "rebase", "squash", "apply"])
def test_work_comes_back_and_nothing_is_left(copy: Copy, tree: Tree, how: str) -> None:
    """Committed or not; on top of what the directory got meanwhile, with a change of its own."""
    tree.put({"c.txt": "c\n"})
    tree.save()
    tree.put({"b.txt": "dirty\n", "mine.txt": "untracked\n"})
    tree.git("add", "mine.txt")
    copy.merge(how, "The message")
    assert tree.read("a.txt") == b"1 agent\n2\n3\n4\n5\n"
    assert tree.read("new dir/ü.txt") == b"new\n"
    assert not (tree.place / "junk.o").exists()
    assert tree.read("b.txt") == b"dirty\n"
    expected = {
        "merge": ["Merge branch '%s'", "The message", "first of two", "first", "first"],
        "rebase": ["The message", "first of two", "first", "first"],
        "squash": ["The message", "first", "first"],
        "apply": ["first", "first"],
    }[how]
    branch = copy.state["branch"]
    assert sorted(log_of(tree)) == sorted(each.replace("%s", branch) for each in expected)
    left = " M b.txt\nA  mine.txt\n"
    if how == "apply":
        left = ' M a.txt\n M b.txt\nA  mine.txt\n?? "new dir/"\n'
    assert tree.status() == left
    assert copy.is_gone()
    assert (copy.state["state"], copy.state["kept"]) == ("merged", False)


def test_where_nothing_happened_meanwhile_the_branch_moves_on(copy: Copy, tree: Tree) -> None:
    assert copy.merge(message="second of two") == tree.git("rev-parse", "HEAD").strip()
    assert log_of(tree) == ["second of two", "first of two", "first"]


def test_a_merge_of_what_was_committed_says_its_message_first(copy: Copy, tree: Tree) -> None:
    copy.commit("second of two")
    state = copy.state
    assert merge.plan(state).message == "", "the branch would only be moved forward"
    tree.put({"c.txt": "c\n"})
    tree.save()
    draft = merge.plan(state).message
    assert draft == f"Merge branch '{state['branch']}'"
    assert merge.plan(state, "merge", "Why").message == f"{draft}\n\nWhy"
    copy.merge(message=draft)
    assert tree.git("log", "-1", "--format=%B").strip() == draft


@pytest.mark.parametrize("how", ["merge", "rebase", "squash", "apply"])
def test_a_conflict_is_told_before_anything_is_touched(copy: Copy, tree: Tree, how: str) -> None:
    tree.put({"a.txt": "1 mine\n2\n3\n4\n5\n"})
    tree.save()
    before = tree.git("rev-parse", "HEAD"), tree.git("reflog")
    with pytest.raises(NoWorktree, match=r"Conflict with main in .*a.txt") as found:
        copy.merge(how)
    assert found.value.reason == "conflict"
    assert (tree.git("rev-parse", "HEAD"), tree.git("reflog")) == before
    assert tree.status() == ""
    assert (copy.place / "new dir/ü.txt").exists()
    assert copy.state["state"] == "open"
    # The agent solves it.
    copy.git("merge", "-q", "-s", "ours", "main", "-m", "solved")
    if how in ("merge", "squash", "apply"):
        copy.merge(how)
        assert tree.read("a.txt") == b"1 agent\n2\n3\n4\n5\n"
        assert copy.is_gone()


def test_changes_of_the_users_that_are_in_the_way_are_told(copy: Copy, tree: Tree) -> None:
    copy.put("fresh.o", "made\n")
    copy.git("add", "-f", "fresh.o")
    copy.commit()
    tree.put({"a.txt": "mine\n", "fresh.o": "mine, and ignored\n"})
    with pytest.raises(NoWorktree, match=r"a.txt, fresh.o") as found:
        copy.merge()
    assert found.value.reason == "dirty_target"
    assert (tree.read("a.txt"), tree.read("fresh.o")) == (b"mine\n", b"mine, and ignored\n")
    tree.git("checkout", "a.txt")
    (tree.place / "fresh.o").unlink()
    tree.git("checkout", "-q", "--detach")
    with pytest.raises(NoWorktree, match="no branch"):
        copy.merge()
    tree.git("checkout", "-q", "main")
    (tree.place / ".git" / "MERGE_HEAD").write_text("")
    with pytest.raises(NoWorktree, match="A merge is not finished"):
        copy.merge()


def test_no_hook_and_no_pointer_of_the_agents_is_used(copy: Copy, tree: Tree, home: Path) -> None:
    """An agent may write hooks, and where its worktree's .git points."""
    for name in ("pre-commit", "commit-msg", "post-merge", "pre-merge-commit", "post-checkout"):
        hook = tree.place / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{home}/ran'\nexit 1\n")
        hook.chmod(0o755)
    trap = Tree(home / "trap", a="1")
    trap.git("config", "core.fsmonitor", f"touch {home}/ran; false")
    (copy.place / ".git").write_text(f"gitdir: {trap.place}/.git\n")
    copy.merge(message="work")
    assert log_of(tree)[0] == "work"
    assert not (home / "ran").exists()
    assert copy.is_gone()


def test_work_that_was_not_merged_is_not_lost_in_silence(copy: Copy) -> None:
    with pytest.raises(Unmerged, match="1 commit and 1 uncommitted file"):
        fleet.remove(copy.home, copy.session)
    with pytest.raises(Unmerged):
        drop_session(copy.home, copy.session)
    assert copy.state["state"] == "open"
    fleet.remove(copy.home, copy.session, force=True)
    assert copy.is_gone()


def test_a_branch_deleted_by_hand_can_be_recreated(copy: Copy, tree: Tree) -> None:
    tip = copy.git("rev-parse", "HEAD").strip()
    tree.git("update-ref", "-d", f"refs/heads/{copy.state['branch']}")
    with pytest.raises(NoWorktree, match="is gone from") as told:
        copy.merge()
    assert f"git branch {copy.state['branch']} {tip[:12]}" in told.value.remedy
    tree.git("branch", copy.state["branch"], tip)
    copy.merge()
    assert tree.read("new dir/ü.txt") == b"new\n"
    assert copy.is_gone()


def test_a_dropped_worktree_leaves_its_session(copy: Copy) -> None:
    drop_session(copy.home, copy.session, force=True)
    assert copy.is_gone()
    assert copy.state["state"] == "dropped"
    with pytest.raises(NoWorktree, match="was dropped before"):
        copy.merge()
    fleet.remove(copy.home, copy.session)


@pytest.mark.parametrize("how", ["merge", "rebase", "squash"])
def test_a_worktree_that_stays_has_nothing_more_to_merge(copy: Copy, tree: Tree, how: str) -> None:
    tree.put({"c.txt": "c\n"})
    tree.save()
    copy.merge(how, "all", kept=True)
    assert (copy.state["state"], copy.state["kept"]) == ("merged", True)
    assert copy.git("status", "--porcelain") == ""
    assert not unmerged(copy.home, copy.session)
    copy.put("more.txt", "more\n")
    assert str(unmerged(copy.home, copy.session)) == "1 uncommitted file"
    if how == "merge":
        copy.merge(how, "more")
        assert log_of(tree)[0].startswith("Merge branch")
        assert copy.is_gone()


def test_a_process_killed_after_the_merge_is_helped_out(copy: Copy, tree: Tree) -> None:
    """The log says merged, and the worktree is still there."""
    kept = copy.place.parent.with_name("kept")
    shutil.copytree(copy.place.parent, kept, symlinks=True)
    copy.merge(message="work")
    kept.rename(copy.place.parent)
    assert upkeep.mend(copy.home) == []
    assert copy.is_gone()
    assert log_of(tree)[0] == "work"


def test_the_same_merge_once_more_changes_nothing(copy: Copy, tree: Tree) -> None:
    """As after a kill between the merge and its note in the log."""
    copy.merge("squash", "work", kept=True)
    before = tree.git("rev-parse", "HEAD")
    copy.merge("squash", "work")
    assert tree.git("rev-parse", "HEAD") == before
    assert copy.is_gone()


def test_what_an_agent_left_elsewhere_counts(copy: Copy, tree: Tree) -> None:
    """It checked out another branch, and made a repository of its own."""
    copy.git("checkout", "-q", "-b", "elsewhere")
    copy.commit("on another branch")
    (copy.place / "inner").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=copy.place / "inner", check=True)
    copy.put("inner/x", "x")
    assert "1 uncommitted file" in str(unmerged(copy.home, copy.session))
    with pytest.raises(NoWorktree):
        copy.merge()
    shutil.rmtree(copy.place / "inner")
    copy.merge()
    assert log_of(tree)[0] == "on another branch"


def test_copied_files_are_nobodys_work(home: Path, tree: Tree) -> None:
    tree.put({"local.cfg": "secret\n"})
    (home / "config.toml").write_text('[worktrees."*"]\ncopy = ["local.cfg"]\n')
    copy = Copy(home, tree)
    assert not unmerged(copy.home, copy.session)
    assert changes_of(copy.head).files == []
    copy.put("x.txt", "x\n")
    copy.merge(message="only x")
    assert tree.git("show", "--stat", "--format=").split()[0] == "x.txt"


def test_changes_are_those_since_the_base(copy: Copy) -> None:
    found = changes_of(copy.head)
    assert [file.change.path for file in found.files] == ["a.txt", "new dir/ü.txt"]
    assert plan_of(copy.home, copy.session).size == (2, 2, 1)
    assert copy.git("status", "--porcelain") == '?? "new dir/"\n'
