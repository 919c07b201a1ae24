"""A commit has what was shown and nothing else; why there is none is told."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rookery.client.create import create_session
from rookery.client.rewind.fork import fork
from rookery.client.work_tree.changes import NoDiff, changes
from rookery.client.work_tree.commit import Commit, NewHooks, Shown, commit, hooks
from rookery.client.work_tree.hooks import active, keep, unknown
from rookery.git.places import find
from rookery.home.paths import session_dir
from rookery.processes.lineage import home_tag
from tests.client.work_tree.trees import WHO, Tree


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree", a__txt="one\n", b__txt="two\n", c__txt="1\n2\n3\n4\n5\n6\n")


def made(
    tree: Tree, message: str = "Change it", paths: Iterable[str] = (), agreed: str = ""
) -> Commit:
    files = changes(tree.cwd).files
    wanted = set(paths) or {file.change.path for file in files}
    shown = [Shown(f.change.path, f.digest) for f in files if f.change.path in wanted]
    return commit(tree.cwd, message, shown, directory(tree), agreed)


def directory(tree: Tree) -> str:
    """The session's."""
    found = tree.place.with_name("session")
    found.mkdir(exist_ok=True)
    return str(found)


def hook(tree: Tree, name: str, script: str) -> None:
    path = tree.place / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_new_changed_deleted_and_renamed_files_are_committed(tree: Tree) -> None:
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


def test_staged_files_left_out_of_the_commit_stay_staged(tree: Tree) -> None:
    tree.put({"a.txt": "1\n", "b.txt": "2\n", "new.txt": "n\n"})
    tree.git("add", "b.txt", "new.txt")
    made(tree, paths=["a.txt"])
    assert tree.status() == "M  b.txt\nA  new.txt\n"


def test_a_file_changed_since_is_not_committed(tree: Tree) -> None:
    tree.put({"a.txt": "1\n"})
    shown = [Shown(file.change.path, file.digest) for file in changes(tree.cwd).files]
    tree.put({"a.txt": "agent\n"})
    with pytest.raises(NoDiff) as caught:
        commit(tree.cwd, "x", shown, directory(tree))
    assert caught.value.reason == "changed_since"
    assert tree.git("log", "--format=%s") == "first\n"


@pytest.mark.parametrize("message", ["", " \n"])
def test_a_commit_needs_a_message_and_a_change(tree: Tree, message: str) -> None:
    with pytest.raises(NoDiff) as caught:
        made(tree)
    assert caught.value.reason == "nothing_to_commit"
    tree.put({"a.txt": "1\n"})
    with pytest.raises(NoDiff) as caught:
        made(tree, message)
    assert caught.value.reason == "no_message"


def test_hooks_run_and_their_output_is_reported(tree: Tree) -> None:
    hook(tree, "pre-commit", "echo tests are green >&2")
    tree.put({"a.txt": "1\n"})
    assert hooks(tree.cwd) == ["pre-commit"]
    keep(directory(tree), tree.cwd)
    assert "tests are green" in made(tree).output
    hook(tree, "pre-commit", "echo 3 tests failed >&2; exit 1")
    tree.put({"b.txt": "1\n", "new.txt": "n\n"})
    keep(directory(tree), tree.cwd)
    with pytest.raises(NoDiff) as caught:
        made(tree)
    assert caught.value.reason == "hook_failed"
    assert caught.value.message.endswith("\n3 tests failed")
    assert tree.status() == " M b.txt\n?? new.txt\n"


def test_a_missing_identity_is_reported(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{key}_{what}")
    tree.git("config", "user.useConfigOnly", "true")
    tree.put({"a.txt": "1\n"})
    with pytest.raises(NoDiff) as caught:
        made(tree)
    assert caught.value.reason == "no_identity"


def test_the_first_commit_and_a_commit_from_a_subfolder(tmp_path: Path) -> None:
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
    assert refused.value.reason == "untrusted_program"
    assert not (tree.place / "ran").exists()


def test_what_a_hook_runs_counts_as_an_agents(tree: Tree, home: Path) -> None:
    rookery = f"{sys.executable} -m rookery config trust-git . --yes"
    tree.git("config", "filter.trap.clean", "cat")
    hook(tree, "pre-commit", f"unset ROOKERY_MARK; cd {tree.place}; {rookery}")
    tree.put({"a.txt": "1\n"})
    keep(directory(tree), tree.cwd)
    with pytest.raises(NoDiff) as refused:
        made(tree)
    assert "An agent cannot trust programs" in refused.value.message
    assert not (home / "trusted.json").exists()


def test_a_merge_in_progress_and_a_locked_index_are_reported(tree: Tree) -> None:
    tree.put({"a.txt": "1\n"})
    (tree.place / ".git" / "index.lock").touch()
    with pytest.raises(NoDiff) as caught:
        made(tree)
    assert caught.value.reason == "busy"
    os.unlink(tree.place / ".git" / "index.lock")
    (tree.place / ".git" / "MERGE_HEAD").write_text(tree.git("rev-parse", "HEAD"))
    with pytest.raises(NoDiff) as refused:
        made(tree)
    assert refused.value.reason == "merging"


def asked(tree: Tree) -> NewHooks:
    with pytest.raises(NewHooks) as refused:
        made(tree)
    assert tree.git("log", "--format=%s") == "first\n"
    return refused.value


def ran(tree: Tree) -> set[str]:
    return {each.name for each in tree.place.with_name("notes").iterdir()}


def noted(tree: Tree, name: str) -> str:
    notes = tree.place.with_name("notes")
    notes.mkdir(exist_ok=True)
    return f": > {notes}/{name}"


def test_hooks_that_are_new_or_changed_since_the_session_began_run_once_the_user_agrees(
    tree: Tree,
) -> None:
    for name in ("pre-commit", "commit-msg"):
        hook(tree, name, noted(tree, name))
    keep(directory(tree), tree.cwd)
    hook(tree, "commit-msg", noted(tree, "changed"))
    hook(tree, "post-commit", noted(tree, "new"))
    tree.put({"a.txt": "1\n"})
    found = asked(tree)
    assert found.reason == "new_hooks"
    assert "commit-msg changed (.git/hooks/commit-msg); post-commit is new" in str(found)
    assert "pre-commit" not in str(found)
    assert noted(tree, "new") in found.question["shown"]
    with pytest.raises(NewHooks):
        made(tree, agreed="another")
    assert ran(tree) == set()
    made(tree, agreed=found.question["fingerprint"])
    assert ran(tree) == {"pre-commit", "changed", "new"}
    tree.put({"a.txt": "2\n"})
    made(tree)


def test_what_one_agreed_to_is_what_runs(tree: Tree) -> None:
    keep(directory(tree), tree.cwd)
    hook(tree, "pre-commit", noted(tree, "first"))
    tree.put({"a.txt": "1\n"})
    found = asked(tree)
    hook(tree, "pre-commit", noted(tree, "second"))
    with pytest.raises(NewHooks) as again:
        made(tree, agreed=found.question["fingerprint"])
    assert again.value.question["fingerprint"] != found.question["fingerprint"]
    assert ran(tree) == set()


def test_a_hook_of_a_session_of_an_earlier_build_counts_as_new(tree: Tree) -> None:
    hook(tree, "pre-commit", noted(tree, "it"))
    tree.put({"a.txt": "1\n"})
    assert "pre-commit may be new" in str(asked(tree))
    assert ran(tree) == set()


@pytest.mark.parametrize("way", ["a script", "husky", "another folder", "a mode"])
def test_a_hook_counts_with_the_files_that_it_runs(tree: Tree, way: str) -> None:
    """One that was there may run what an agent writes."""
    if way == "husky":
        tree.put({".husky/_/h": 'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")"\n'})
        tree.put({".husky/_/pre-commit": '#!/bin/sh\n. "$(dirname "$0")/h"\n'})
        tree.put({".husky/pre-commit": "true\n"})
        (tree.place / ".husky/_/pre-commit").chmod(0o755)
        tree.git("config", "core.hooksPath", ".husky/_")
    elif way == "a script":
        tree.put({"scripts/check": "true\n"})
        hook(tree, "pre-commit", "exec sh scripts/check")
    elif way == "a mode":
        hook(tree, "pre-commit", noted(tree, "it"))
        (tree.place / ".git/hooks/pre-commit").chmod(0o644)
    else:
        hook(tree, "pre-commit", "true")
        tree.put({"other/pre-commit": f"#!/bin/sh\n{noted(tree, 'it')}\n"})
        (tree.place / "other/pre-commit").chmod(0o755)
    tree.git("add", ".")
    tree.git("commit", "-q", "--amend", "--no-edit", "--no-verify")
    keep(directory(tree), tree.cwd)
    tree.put({"a.txt": "1\n"})
    made(tree)
    tree.git("reset", "-q", "--soft", "HEAD~1")
    evil = noted(tree, "it")
    match way:
        case "husky":
            tree.put({".husky/pre-commit": f"{evil}\n"})
        case "a script":
            tree.put({"scripts/check": f"{evil}\n"})
        case "a mode":
            (tree.place / ".git/hooks/pre-commit").chmod(0o755)
        case _:
            tree.git("config", "core.hooksPath", "other")
    found = asked(tree)
    assert ran(tree) == set()
    made(tree, agreed=found.question["fingerprint"])
    assert ran(tree) == {"it"}


def test_a_hook_that_is_rewritten_after_it_was_checked_does_not_run(tree: Tree) -> None:
    """By one that runs before it; nor does one that came meanwhile."""
    hook(tree, "commit-msg", "true")
    place = tree.place / ".git" / "hooks"
    script = f"cd {place}; echo '{noted(tree, 'it')}' > commit-msg; cp commit-msg post-commit"
    hook(tree, "pre-commit", f"{script}; chmod +x post-commit")
    keep(directory(tree), tree.cwd)
    tree.put({"a.txt": "1\n"})
    with pytest.raises(NoDiff, match="hook") as refused:
        made(tree)
    assert "commit-msg changed after it was checked" in refused.value.message
    assert ran(tree) == set()
    assert (place / "post-commit").exists()


def test_a_session_knows_the_hooks_that_were_there_when_it_began_and_so_does_its_fork(
    tree: Tree, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(tree, "pre-commit", "true")
    given: dict[str, Any] = {"agent": "demo", "argv": [], "cwd": tree.cwd}
    first = create_session(str(home), **given)
    hook(tree, "commit-msg", "true")
    second = fork(str(home), first, 0, worktree="")
    monkeypatch.setenv("ROOKERY_MARK", f"{home_tag(str(home))}.x")
    third = create_session(str(home), **given)
    place = find(tree.cwd)
    assert place is not None
    names = [
        [each.hook.name for each in unknown(session_dir(str(home), session), active(place))]
        for session in (first, second, third)
    ]
    assert names == [["commit-msg"], ["commit-msg"], ["pre-commit", "commit-msg"]]
