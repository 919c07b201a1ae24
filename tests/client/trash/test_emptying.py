"""What leaves the trash by itself: what is old, and the oldest where the disk is nearly full."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.client.create import create_session
from rookery.client.trash import emptying, moves, store
from rookery.client.trash.store import KEPT, Entry
from rookery.core.json import Draft
from rookery.home import paths
from rookery.operations.calling.local import LocalRookery
from tests.client.trash.nest import Nest
from tests.client.work_tree.trees import WHO

OURS = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


def trashed(home: Path, days: float, name: str = "", size: int = 0) -> Entry:
    """A session that was removed so many days ago."""
    told = {"sessionUpdate": "_agent", "state": "ready", "sessionId": name, "capabilities": {}}
    session = create_session(
        str(home),
        agent="rookery",
        argv=[],
        cwd=str(home.parent),
        environment={},
        title=f"{days} days",
        history=[Draft(told)] if name else [],
    )
    Path(paths.session_dir(str(home), session), "agent.log").write_bytes(b"x" * size)
    entry = store.put(str(home), session)
    return aged(entry, days)


def aged(entry: Entry, days: float) -> Entry:
    at = entry.at - int(days * 24 * 3600 * 1000)
    older = Entry(entry.home, f"{at}-{entry.session}", entry.session, at)
    os.rename(entry.directory, older.directory)
    if os.path.isdir(entry.worktree):
        os.rename(entry.worktree, older.worktree)
    return older


def test_it_goes_after_14_days_and_our_agents_conversation_with_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    conversation = home / "conversations" / OURS
    conversation.mkdir(parents=True)
    young, old = trashed(home, 13.9), trashed(home, 14.1, OURS)
    assert old.until - old.at == KEPT
    assert conversation.is_dir(), "it is kept as long as the session can be restored"
    assert emptying.is_due(str(home))
    assert emptying.tend(str(home)) == []
    assert store.entries(str(home)) == [young]
    assert not conversation.exists()
    assert not emptying.is_due(str(home))


def test_who_makes_a_session_starts_the_process_that_deletes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = trashed(home, 15)
    LocalRookery(str(home)).create(agent="demo", cwd=str(tmp_path), environment={})
    while os.path.exists(old.directory) or os.path.exists(old.deleted):
        os.sched_yield()
    assert store.entries(str(home)) == []


def test_what_a_killed_process_did_not_delete_goes_with_the_next(tmp_path: Path) -> None:
    nest = Nest(tmp_path)
    entry = store.put(nest.home, nest.id)
    os.rename(entry.directory, entry.deleted)
    assert moves.listed(nest.home) == []
    assert emptying.is_due(nest.home)
    emptying.tend(nest.home)
    nest.check_erased()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A home on a disk of 4 MiB."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    home = tmp_path / "small"
    home.mkdir(mode=0o700)
    words = ["-t", "tmpfs", "-o", "size=4m,mode=700", "none"]
    subprocess.run(["mount", *words, str(home)], check=True)
    yield home
    subprocess.run(["umount", "--lazy", str(home)], check=True)


def fill(home: Path) -> None:
    with (home / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


def test_on_a_full_disk_sessions_are_removed_and_restored_and_the_oldest_makes_room(
    small: Path,
) -> None:
    home = str(small)
    oldest, later = trashed(small, 3, size=500_000), trashed(small, 2, size=500_000)
    session = create_session(home, agent="demo", argv=[], cwd="/", environment={})
    assert not emptying.is_low(home)
    fill(small)
    assert emptying.is_low(home)
    entry = moves.remove(home, session)
    assert moves.restore(home, session) == (session, "")
    moves.remove(home, session)
    said: list[str] = []
    LocalRookery(home).create(agent="demo", cwd="/", environment={}, report=said.append)
    assert len(said) == 1
    assert said[0].endswith(f"the oldest in the trash was deleted: {oldest.session} 3 days")
    assert [each.session for each in store.entries(home)] == [entry.session, later.session]


def test_what_went_early_is_said_once_by_the_next_list(small: Path) -> None:
    home = str(small)
    trashed(small, 3, size=500_000)
    fill(small)
    emptying.keep_in_order(home)
    assert [words[:24] for words in emptying.untold(home)] == ["The disk is nearly full,"]
    assert emptying.untold(home) == []
