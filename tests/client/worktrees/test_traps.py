"""No way in runs a program that a repository names."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from rookery.client.create import create_session
from rookery.client.fleet import head_of_session
from rookery.client.work_tree import commit, drivers, git, undo
from rookery.client.work_tree.changes import NoDiff, changes, commit_at
from rookery.client.work_tree.files import listed
from rookery.client.worktrees.drop import unmerged
from rookery.client.worktrees.merge import WAYS
from rookery.client.worktrees.programs import Untrusted
from rookery.client.worktrees.repository import NoWorktree
from rookery.git import places
from rookery.operations.merging.session import changes_of, drop_session, merge_session, plan_of
from rookery.processes import roots
from rookery.processes.lineage import home_tag
from rookery.processes.tree import start_time
from rookery.snapshots.restore import changes as compared
from rookery.snapshots.store import Store
from tests.client.work_tree.trees import WHO, Tree
from tests.client.worktrees.traps import Enemy, traps


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def enemy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Enemy]:
    """With the shell's PATH as some have it: the working directory is on it."""
    yield from sprung(Enemy(tmp_path / "enemy", tmp_path / "notes"), monkeypatch)


@pytest.fixture(params=["on PATH", "not on PATH"])
def tame(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Enemy]:
    """The same, but no file needs a filter."""
    found = Enemy(tmp_path / "enemy", tmp_path / "notes", attributes="*.txt diff=trap\n")
    if request.param == "on PATH":
        yield from sprung(found, monkeypatch)
    else:
        yield found
        assert found.ran == []


def sprung(enemy: Enemy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Enemy]:
    monkeypatch.chdir(enemy.place)
    monkeypatch.setenv("PATH", f".:{enemy.place}::{os.environ['PATH']}")
    yield enemy
    assert enemy.ran == []


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOKERY_HOME", str(home))
    return home


def test_the_list_of_traps_is_long() -> None:
    assert len(list(traps())) > 150


def test_the_traps_snap_where_git_is_run_plainly(tmp_path: Path) -> None:
    enemy = Enemy(tmp_path / "enemy", tmp_path / "notes")
    with suppress(subprocess.CalledProcessError):
        enemy.git("status")
    assert enemy.ran


def look(enemy: Enemy, _home: Path) -> None:
    assert {each.change.path for each in changes(enemy.cwd).files} >= {"a.txt"}
    assert changes(enemy.cwd, "HEAD~1").files
    commit_at(enemy.cwd, 2_000_000_000)
    assert "a.txt" in listed(enemy.cwd)
    commit.hooks(enemy.cwd)


def look_into_the_others(enemy: Enemy, _home: Path) -> None:
    for name in ("sub", "bare"):
        with suppress(NoDiff):
            changes(f"{enemy.cwd}/{name}")
        listed(f"{enemy.cwd}/{name}")


def take_back(enemy: Enemy, home: Path) -> None:
    found = changes(enemy.cwd)
    file = found.file("a.txt")
    assert file is not None
    done = undo.undo(enemy.cwd, str(home), "", "a.txt", file.digest)
    undo.put_back(enemy.cwd, str(home), done.id)


def take_snapshots(enemy: Enemy, home: Path) -> None:
    place = str(home / "sessions" / "x" / "snapshots")
    os.makedirs(os.path.dirname(place))
    git = next(each for each in ("/usr/bin/git", "/bin/git") if os.path.exists(each))
    env = {key: os.environ[key] for key in ("PATH", "HOME")}
    for root in (enemy.cwd, f"{enemy.cwd}/sub", f"{enemy.cwd}/bare"):
        with Store.opened(place, git, root, str(home), env) as store:
            first = store.take(1 << 20).id
            Path(root, "new.txt").write_text("new\n")
            compared(store, store.take(1 << 20).id, first)


@pytest.mark.parametrize("way", [look, look_into_the_others, take_back, take_snapshots])
def test_a_look_runs_nothing(enemy: Enemy, home: Path, way: Callable[[Enemy, Path], None]) -> None:
    way(enemy, home)


@pytest.mark.parametrize("how", WAYS)
def test_a_worktree_is_made_and_merged_without_them(tame: Enemy, home: Path, how: str) -> None:
    session, top = made(tame, home)
    (top / "b.txt").write_text("of the agent\n")
    (top / "new.txt").write_text("new\n")
    assert plan_of(str(home), session, how).size.files == 2
    assert changes_of(head_of(home, session)).files
    assert unmerged(str(home), session)
    merge_session(str(home), session, how)
    assert tame.read("b.txt") == b"of the agent\n"
    assert tame.read("new.txt") == b"new\n"


def test_a_worktree_is_dropped_without_them(tame: Enemy, home: Path) -> None:
    session, _ = made(tame, home)
    drop_session(str(home), session, force=True)


def test_nothing_is_checked_out_without_the_filter_that_it_needs(enemy: Enemy, home: Path) -> None:
    with pytest.raises(NoWorktree, match=r"filter trap .*clean = ") as refused:
        made(enemy, home)
    assert refused.value.reason == "untrusted_program"
    assert "trust-git" in refused.value.remedy
    assert not (enemy.place / ".git" / "worktrees").exists()


def test_the_remedy_can_be_pasted_into_a_shell(tmp_path: Path, home: Path) -> None:
    tree = Tree(tmp_path / "my work", a__bin="a\n", b__bin="b\n")
    tree.put({".gitattributes": "*.bin filter=up\n"})
    tree.save()
    tree.git("config", "filter.up.clean", "cat")
    with pytest.raises(NoWorktree, match="1 more file need a program") as refused:
        made(tree, home)
    assert f"trust-git '{tree.cwd}'." in refused.value.remedy


@pytest.mark.parametrize("how", WAYS)
def test_nothing_is_merged_without_the_filter_that_it_needs(
    tame: Enemy, home: Path, how: str
) -> None:
    session, top = made(tame, home)
    (top / ".gitattributes").write_text("*.txt filter=trap\n")
    (top / "b.txt").write_text("of the agent\n")
    for act in (plan_of, merge_session):
        with pytest.raises(NoWorktree, match="filter trap"):
            act(str(home), session, how)
    assert tame.read("b.txt") == b"b\n"


def test_settings_that_change_all_the_time_run_nothing(tame: Enemy, home: Path) -> None:
    config, trapped = tame.place / ".git" / "config", tame.trapped()
    done = threading.Event()

    def flip() -> None:
        while not done.is_set():
            for text in (tame.plain, trapped):
                (new := config.with_suffix(".new")).write_text(text)
                new.replace(config)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for number in range(4):
            try:
                session, top = made(tame, home)
            except Untrusted:  # the attributes that were merged, and the settings of this moment
                assert number
                continue
            (top / "b.txt").write_text(f"{number}\n")
            (top / ".gitattributes").write_text("* filter=trap merge=trap\n" * (number % 2))
            with suppress(NoWorktree):
                merge_session(str(home), session, WAYS[number])
            with suppress(NoDiff):
                changes(tame.cwd)
    finally:
        done.set()
        thread.join()


def made(enemy: Tree, home: Path) -> tuple[str, Path]:
    session = create_session(
        str(home), agent="demo", argv=[], cwd=enemy.cwd, worktree="", title="My work"
    )
    return session, Path(head_of(home, session)["worktree"]["path"])


def head_of(home: Path, session: str) -> dict[str, Any]:
    return head_of_session(str(home), session) or {}


def test_a_filter_runs_once_the_user_trusts_it_and_not_another_one(
    home: Path, tmp_path: Path
) -> None:
    tree = Tree(tmp_path / "tree", a__up="a\n", __gitattributes="*.up filter=up\n")
    tree.git("config", "filter.up.clean", "tr A-Z a-z")
    tree.git("config", "filter.up.smudge", "tr a-z A-Z")
    with pytest.raises(NoWorktree, match="tr A-Z a-z"):
        made(tree, home)
    done = run_cli("config", "trust-git", tree.cwd, "--yes")
    assert "smudge = tr a-z A-Z" in done.stdout
    session, top = made(tree, home)
    assert (top / "a.up").read_text() == "A\n"
    (top / "a.up").write_text("B\n")
    tree.git("config", "filter.up.clean", "tr A-Z x")
    with pytest.raises(NoWorktree, match="tr A-Z x"):
        merge_session(str(home), session)
    tree.git("config", "filter.up.clean", "tr A-Z a-z")
    merge_session(str(home), session)
    assert tree.read("a.up") == b"B\n"
    assert tree.git("show", "HEAD:a.up") == "b\n"


def test_what_an_agent_writes_about_trust_counts_for_nothing(home: Path, tmp_path: Path) -> None:
    """Neither in a fresh home nor while a session is awake; it waits for the user."""
    tree = Tree(tmp_path / "tree", a__up="a\n", __gitattributes="*.up filter=up\n")
    tree.git("config", "filter.up.clean", "cat")
    place = places.find(tree.cwd)
    assert place is not None
    [driver] = drivers.configured(place)
    drivers.trust(str(home), place, [driver])
    record = home / "confirmed.json"
    forged, confirmed = (home / "trusted.json").read_text(), record.read_text()
    record.unlink()
    assert drivers.trusted(str(home), place) == []
    record.write_text(confirmed)
    assert drivers.trusted(str(home), place) == [("filter.up.clean", "cat")]
    assert run_cli("config", "trust-git", tree.cwd, "--forget").returncode == 0
    with agent_of(home):
        (home / "trusted.json").write_text(forged)
        assert drivers.trusted(str(home), place) == []
        waits = run_cli("config", "confirm", "--yes")
        assert "Programs of the git configuration of" in waits.stdout + waits.stderr
    assert drivers.trusted(str(home), place)


@contextmanager
def agent_of(home: Path) -> Iterator[None]:
    """An agent of an editor's, which has no worker."""
    with subprocess.Popen(["sleep", "300"]) as process:
        roots.record(str(home), process.pid, start_time(process.pid))
        yield
        process.kill()


def test_a_trusted_script_that_is_rewritten_afterwards_does_not_run(
    home: Path, tmp_path: Path
) -> None:
    """Here by itself, for the file after the first."""
    tree = Tree(tmp_path / "tree", a__txt="a\n", clean__sh="cat\n")
    script = "cat; echo 'touch ran; cat' > clean.sh"
    tree.put({"clean.sh": f"#!/bin/sh\n{script}\n", ".gitattributes": "*.up filter=up\n"})
    tree.save()
    tree.git("config", "filter.up.clean", "sh ./clean.sh")
    tree.git("config", "filter.up.required", "true")
    place = places.find(tree.cwd)
    assert place is not None
    drivers.trust(str(home), place, drivers.configured(place))
    tree.put({"a.up": "1\n", "b.up": "2\n"})
    told = git.do(tree.cwd, ["add", "a.up", "b.up"])
    assert "clean.sh changed after it was checked" in told.output
    assert told.code
    assert not (tree.place / "ran").exists()


def test_an_agent_trusts_nothing(home: Path, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree", a__txt="a\n")
    tree.git("config", "filter.up.clean", "tr A-Z a-z")
    done = run_cli("config", "trust-git", tree.cwd, "--yes", MARK=f"{home_tag(str(home))}.x")
    assert done.returncode == 1, done.stderr
    assert "An agent cannot trust programs" in done.stderr


def run_cli(*words: str, **marks: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {f"ROOKERY_{key}": value for key, value in marks.items()}
    argv = [sys.executable, "-m", "rookery", *words]
    return subprocess.run(argv, capture_output=True, text=True, env=env, check=False)
