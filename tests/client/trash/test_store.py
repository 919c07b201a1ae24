"""The trash: a session goes there and comes back with its worktree and branch, whenever a process
is killed at it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.client.create import create_session
from rookery.client.imports.known import Known
from rookery.client.trash import moves, store
from rookery.client.worktrees import upkeep
from rookery.core.json import Draft
from rookery.home import paths
from tests.client.trash.nest import Nest
from tests.client.work_tree.trees import WHO


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def nest(tmp_path: Path) -> Nest:
    return Nest(tmp_path)


def test_a_session_comes_back_as_it_was_with_branch_index_and_files(nest: Nest) -> None:
    entry = store.put(nest.home, nest.id)
    nest.check_away()
    assert store.entries(nest.home) == [entry]
    nest.tree.git("worktree", "prune", "--expire=now")
    nest.tree.git("reflog", "expire", "--expire=now", "--all")
    nest.tree.git("gc", "--quiet", "--prune=now")
    nest.tree.git("fsck", "--full")
    store.mend(nest.home)
    upkeep.mend(nest.home)
    nest.check_away()
    assert store.restore(entry) == ""
    nest.check_back()
    assert store.entries(nest.home) == []


def test_what_was_merging_when_it_was_removed_survives_git_gc(nest: Nest) -> None:
    nest.git("commit", "-qm", "more")
    nest.git("checkout", "-q", "-b", "other", "HEAD~1")
    (nest.work / "b.txt").write_text("theirs\n")
    nest.git("commit", "-qam", "theirs")
    nest.git("checkout", "-q", nest.branch)
    (nest.work / "b.txt").write_text("ours\n")
    nest.git("commit", "-qam", "ours")
    subprocess.run(["git", "merge", "-q", "other"], cwd=nest.work, check=False)
    nest.git("branch", "-qD", "other")
    conflict = nest.git("ls-files", "--unmerged")
    entry = store.put(nest.home, nest.id)
    nest.tree.git("gc", "--quiet", "--prune=now")
    assert store.restore(entry) == ""
    assert nest.git("ls-files", "--unmerged") == conflict
    assert nest.git("show", ":3:b.txt") == "theirs\n"


def test_deleted_for_good_nothing_of_it_is_left(nest: Nest) -> None:
    entry = store.put(nest.home, nest.id)
    moves.erase(entry)
    nest.check_erased()
    with pytest.raises(store.TrashError, match="no longer in the trash"):
        store.restore(entry)


KILLED = """
import os, signal, sys
from rookery.client.trash import moves, store
home, session, what, steps = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
STEPS = {"os.rename", "os.remove", "os.rmdir", "subprocess.Popen"}
def count(name, given):
    global steps
    if armed and (name in STEPS or name == "open" and given[1] and "w" in str(given[1])):
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
armed = False
sys.addaudithook(count)
armed = True
if what == "put":
    store.put(home, session)
elif what == "restore":
    store.restore(store.entries(home)[0])
else:
    moves.erase(store.entries(home)[0])
"""


def killed(nest: Nest, what: str, steps: int) -> bool:
    """Whether it was, before its `steps`th change or command."""
    argv = [sys.executable, "-P", "-c", KILLED, nest.home, nest.id, what, str(steps)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9


@pytest.mark.long
@pytest.mark.parametrize("what", ["put", "restore", "erase"])
def test_killed_at_any_point_it_is_in_one_place_and_whole(tmp_path: Path, what: str) -> None:
    model, steps = Nest(tmp_path), 0
    if what != "put":
        store.put(model.home, model.id)
    shutil.copytree(tmp_path, spare := tmp_path.parent / f"{tmp_path.name}.spare", symlinks=True)
    while died := killed(model, what, steps):
        store.mend(model.home)
        upkeep.mend(model.home)
        there, entries = os.path.isdir(model.directory), store.entries(model.home)
        assert there + len(entries) == (0 if what == "erase" and not entries else 1), steps
        if entries:
            model.check_away()
            assert store.restore(entries[0]) == ""
            there = True
        if there:
            model.check_back()
        else:
            moves.clear_leftovers(model.home)
            model.check_erased()
        for name in os.listdir(tmp_path):
            shutil.rmtree(tmp_path / name)
        shutil.copytree(spare, tmp_path, symlinks=True, dirs_exist_ok=True)
        steps += 1
    assert not died
    assert steps > 5


def test_two_removals_at_once_put_it_there_once(nest: Nest) -> None:
    code = "import sys; from rookery.client.trash import store; store.put(*sys.argv[1:])"
    argv = [sys.executable, "-P", "-c", code, nest.home, nest.id]
    both = [subprocess.Popen(argv, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert sorted(each.wait() == 0 for each in both) == [False, True]
    [entry] = store.entries(nest.home)
    store.restore(entry)
    nest.check_back()


def test_while_one_moves_it_nobody_mends(nest: Nest) -> None:
    """Else a list of sessions would take a worktree back whose session is just going."""
    entry = store.Entry(nest.home, f"{1:013}-{nest.id}", nest.id, 1)
    with store.held(nest.home):
        os.rename(nest.work.parent, entry.worktree)
        store.mend(nest.home)
        assert not nest.work.exists()
    store.mend(nest.home)
    nest.check_back()


def test_what_is_in_the_way_keeps_it_in_the_trash(nest: Nest) -> None:
    entry = store.put(nest.home, nest.id)
    os.mkdir(nest.directory)
    with pytest.raises(store.TrashError, match="exists"):
        store.restore(entry)
    os.rmdir(nest.directory)
    nest.tree.git("branch", nest.branch, "main")
    with pytest.raises(store.TrashError, match="another branch") as refused:
        store.restore(entry)
    assert "git branch -m" in refused.value.remedy
    assert store.entries(nest.home) == [entry]
    nest.tree.git("branch", "-m", nest.branch, "moved")
    store.restore(entry)
    nest.tree.git("branch", "-D", "moved")
    nest.check_back()


def test_the_same_branch_name_serves_another_session_meanwhile(tmp_path: Path) -> None:
    nest = Nest(tmp_path, "feature")
    entry = store.put(nest.home, nest.id)
    given = {"agent": "demo", "argv": [], "cwd": nest.tree.cwd, "environment": {}}
    other = create_session(nest.home, worktree="feature", **given)  # type: ignore[arg-type]
    with pytest.raises(store.TrashError, match="another branch"):
        store.restore(entry)
    moves.erase(entry)
    assert nest.tree.git("branch", "--list", "rookery/*").split() == ["+", "rookery/feature"]
    assert os.path.isdir(os.path.join(nest.home, "worktrees", other, "repo"))


def test_what_is_gone_is_named_and_the_rest_comes_back(nest: Nest) -> None:
    entry = store.put(nest.home, nest.id)
    os.rename(nest.tree.place, f"{nest.tree.place}.gone")
    assert "is gone" in store.restore(entry)
    assert (nest.work / "d.txt").exists()
    assert os.path.isdir(nest.directory)
    os.rename(f"{nest.tree.place}.gone", nest.tree.place)
    store.mend(nest.home)
    nest.check_back()


def test_another_clone_in_the_repositorys_place_is_left_alone(nest: Nest, tmp_path: Path) -> None:
    entry = store.put(nest.home, nest.id)
    os.rename(nest.tree.place, tmp_path / "old")
    subprocess.run(["git", "clone", "-q", tmp_path / "old", nest.tree.place], check=True)
    before = nest.tree.git("for-each-ref")
    assert "Git no longer knows the worktree" in store.restore(entry)
    assert (nest.work / "d.txt").exists()
    assert nest.tree.git("for-each-ref") == before


def test_a_session_with_the_same_id_can_be_in_the_trash_twice(nest: Nest) -> None:
    first = store.put(nest.home, nest.id)
    given = {"agent": "demo", "argv": [], "cwd": nest.tree.cwd, "environment": {}}
    create_session(nest.home, session=nest.id, title="later", **given)  # type: ignore[arg-type]
    second = store.put(nest.home, nest.id)
    assert store.entries(nest.home) == [second, first]
    assert moves.find(nest.home, nest.id[:6]) == second
    moves.delete(nest.home, nest.id)
    assert moves.restore(nest.home, nest.id) == (nest.id, "")
    nest.check_back()


def test_what_cannot_be_moved_stays_where_it_is(nest: Nest) -> None:
    trash = paths.trash(nest.home)
    os.rmdir(trash)
    Path(trash).write_text("")
    with pytest.raises((store.TrashError, paths.PathError)):
        store.put(nest.home, nest.id)
    os.unlink(trash)
    os.mkdir(trash)
    elsewhere = Path("/dev/shm", f"rookery-test-{os.getpid()}")
    shutil.copytree(Path(nest.home, "sessions"), elsewhere)
    try:
        shutil.rmtree(Path(nest.home, "sessions"))
        os.symlink(elsewhere, Path(nest.home, "sessions"))
        with pytest.raises(store.TrashError, match="another file system") as refused:
            store.put(nest.home, nest.id)
        assert "--permanently" in refused.value.remedy
        nest.check_back()
    finally:
        shutil.rmtree(elsewhere)


def test_a_conversation_whose_session_is_in_the_trash_is_not_imported_again(tmp_path: Path) -> None:
    """Else emptying the trash would delete the conversation of the one that was imported."""
    home = str(tmp_path / "home")
    ready = {"sessionUpdate": "_agent", "state": "ready", "sessionId": "s1", "capabilities": {}}
    given = {"agent": "demo", "argv": [], "cwd": str(tmp_path), "environment": {}}
    session = create_session(home, history=[Draft(ready)], **given)  # type: ignore[arg-type]
    store.put(home, session)
    known = Known(home, "demo")
    known.look()
    assert (known.here, known.trashed) == ({}, {"s1": session})
