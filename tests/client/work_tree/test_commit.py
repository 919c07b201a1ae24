"""V6: a commit has what was shown and nothing else; why there is none is told."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from rookery.client.work_tree.changes import NoDiff, changes
from rookery.client.work_tree.commit import Commit, Failed, Shown, commit, hooks
from tests.client.work_tree.trees import WHO, Tree


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree", a__txt="one\n", b__txt="two\n", c__txt="1\n2\n3\n4\n5\n6\n")


def made(tree: Tree, message: str = "Change it", paths: Iterable[str] = ()) -> Commit:
    files = changes(tree.cwd).files
    wanted = set(paths) or {file.change.path for file in files}
    shown = [Shown(f.change.path, f.digest) for f in files if f.change.path in wanted]
    return commit(tree.cwd, message, shown)


def hook(tree: Tree, name: str, script: str) -> None:
    path = tree.place / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_V6_new_changed_deleted_and_renamed_files_are_committed(tree: Tree) -> None:
    tree.put({"a.txt": "1\n", '-new "x"\n': "n\n", "*": "star\n"})
    (tree.place / "b.txt").unlink()
    tree.git("mv", "c.txt", "d.txt")
    found = made(tree, "-m is no option\n\n# kept\n")
    assert tree.git("log", "-1", "--format=%H %B").strip() == (
        f"{found.id} -m is no option\n\n# kept"
    )
    assert found.summary == "-m is no option"
    assert tree.status() == ""
    assert "R100" in tree.git("log", "-1", "-M", "--name-status")


def test_V6_what_is_staged_and_not_chosen_stays_staged(tree: Tree) -> None:
    tree.put({"a.txt": "1\n", "b.txt": "2\n", "new.txt": "n\n"})
    tree.git("add", "b.txt", "new.txt")
    made(tree, paths=["a.txt"])
    assert tree.status() == "M  b.txt\nA  new.txt\n"


def test_V6_a_file_that_changed_since_is_not_committed(tree: Tree) -> None:
    tree.put({"a.txt": "1\n"})
    shown = [Shown(file.change.path, file.digest) for file in changes(tree.cwd).files]
    tree.put({"a.txt": "agent\n"})
    with pytest.raises(NoDiff) as caught:
        commit(tree.cwd, "x", shown)
    assert caught.value.name == "changed_since"
    assert tree.git("log", "--format=%s") == "first\n"


@pytest.mark.parametrize("message", ["", " \n"])
def test_V6_a_commit_needs_a_message_and_a_change(tree: Tree, message: str) -> None:
    with pytest.raises(NoDiff) as caught:
        made(tree)
    assert caught.value.name == "nothing_to_commit"
    tree.put({"a.txt": "1\n"})
    with pytest.raises(NoDiff) as caught:
        made(tree, message)
    assert caught.value.name == "no_message"


def test_V6_hooks_run_and_what_they_print_is_told(tree: Tree) -> None:
    hook(tree, "pre-commit", "echo tests are green >&2")
    tree.put({"a.txt": "1\n"})
    assert hooks(tree.cwd) == ["pre-commit"]
    assert "tests are green" in made(tree).said
    hook(tree, "pre-commit", "echo 3 tests failed >&2; exit 1")
    tree.put({"b.txt": "1\n", "new.txt": "n\n"})
    with pytest.raises(Failed) as caught:
        made(tree)
    assert (caught.value.name, caught.value.said) == ("hook_failed", "3 tests failed")
    assert tree.status() == " M b.txt\n?? new.txt\n"


def test_V6_no_identity_is_told(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{key}_{what}")
    tree.git("config", "user.useConfigOnly", "true")
    tree.put({"a.txt": "1\n"})
    with pytest.raises(Failed) as caught:
        made(tree)
    assert caught.value.name == "no_identity"


def test_V6_the_first_commit_and_one_in_a_folder(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t")
    tree.put({"sub/a.txt": "one\n", "top.txt": "top\n"})
    tree.cwd = str(tree.place / "sub")
    made(tree)
    assert tree.git("show", "--format=", "--name-only") == "sub/a.txt\n"
    assert tree.status() == "?? top.txt\n"


def test_nothing_is_committed_without_the_filter_that_it_needs(tree: Tree) -> None:
    tree.put({".gitattributes": "*.txt filter=trap\n"})
    tree.save()
    tree.git("config", "filter.trap.clean", f": > {tree.place}/ran; cat")
    tree.put({"a.txt": "1\n"})
    with pytest.raises(NoDiff, match=r"trap .clean = ") as refused:
        made(tree)
    assert refused.value.name == "untrusted_program"
    assert not (tree.place / "ran").exists()


def test_what_a_hook_runs_counts_as_an_agents(tree: Tree, home: Path) -> None:
    rookery = f"{sys.executable} -m rookery config trust-git . --yes"
    tree.git("config", "filter.trap.clean", "cat")
    hook(tree, "pre-commit", f"unset ROOKERY_MARK; cd {tree.place}; {rookery}")
    tree.put({"a.txt": "1\n"})
    with pytest.raises(Failed) as refused:
        made(tree)
    assert "An agent cannot trust programs" in refused.value.said
    assert not (home / "trusted-git-programs.json").exists()


def test_V6_a_merge_and_a_busy_index_are_told(tree: Tree) -> None:
    tree.put({"a.txt": "1\n"})
    (tree.place / ".git" / "index.lock").touch()
    with pytest.raises(Failed) as caught:
        made(tree)
    assert caught.value.name == "busy"
    os.unlink(tree.place / ".git" / "index.lock")
    tree.git("update-ref", "MERGE_HEAD", "HEAD")
    with pytest.raises(NoDiff) as refused:
        made(tree)
    assert refused.value.name == "merging"
