"""A snapshot is the directory, byte for byte, and the user's own git never hears of it."""

import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from random import Random

import pytest

from rookery.snapshots.scope import Unfit
from tests.snapshots.meadow import Meadow, Tree, Vandal, git

OWN = ("index", "logs/HEAD", "logs/refs/stash", "refs/stash", "config", "HEAD")
"""Of the user's repository."""


def own(root: Path) -> dict[str, object]:
    """All that git says of a repository, and the bytes of its files."""
    files = {name: root / ".git" / name for name in OWN}
    found: dict[str, object] = {
        name: file.read_bytes() if file.exists() else None for name, file in files.items()
    }
    objects = sorted(str(each) for each in (root / ".git/objects").rglob("*"))
    return found | {"objects": objects}


def restored(meadow: Meadow, target: str, wanted: Tree) -> str:
    present, outcome = meadow.restore(target)
    # A folder that still has an ignored or a large file in it cannot become a file or a link.
    if not any("not empty" in why for why in outcome.kept.values()):
        assert meadow.differs(wanted) == set()
    return present


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_rewinding_and_undoing_is_exact_byte_for_byte(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    meadow = Meadow(tmp_path)
    vandal = Vandal(meadow.root, random)
    git(meadow.root, "commit", "--allow-empty", "-qm", "first")
    git(meadow.root, "-c", "filter.lfs.required=false", "stash", "list")
    before = own(meadow.root)
    taken = []
    for _ in range(30 if seed == 3 else 12):
        vandal.rage()
        taken.append((meadow.take().id, meadow.tree()))
    for _ in range(10):
        there = meadow.tree()
        target, wanted = random.choice(taken)
        present = restored(meadow, target, wanted)
        if random.random() < 0.6:
            restored(meadow, present, there)
    assert own(meadow.root) == before


def test_git_filters_line_ending_conversion_and_hooks_are_not_used(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    wanted = {"a.bin": b"large file", "b.txt": b"one\r\ntwo\n", "c.txt": b"$Id$\n"}
    for name, data in wanted.items():
        (meadow.root / name).write_bytes(data)
    taken = meadow.take()
    for name in wanted:
        (meadow.root / name).unlink()
    meadow.restore(taken.id)
    assert {name: (meadow.root / name).read_bytes() for name in wanted} == wanted


def test_a_restored_file_keeps_its_owner_and_its_other_names(tmp_path: Path) -> None:
    """Those in the directory and those outside of it."""
    meadow = Meadow(tmp_path, repository=False)
    file, twin, out = meadow.root / "file", meadow.root / "twin", tmp_path / "out"
    owner = (1234, 1235) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    file.write_bytes(b"caf\xe9\r\n")
    alone = meadow.root / "alone"
    alone.write_bytes(b"\xef\xbb\xbfone")
    os.chown(alone, *owner)
    os.link(file, twin)
    os.link(file, out)
    target = meadow.take().id
    file.write_bytes(b"changed, and longer\n")
    alone.write_bytes(b"changed")
    _, outcome = meadow.restore(target)
    assert outcome.kept == {}
    assert {each.read_bytes() for each in (file, twin, out)} == {b"caf\xe9\r\n"}
    assert file.samefile(twin)
    assert file.samefile(out)
    assert alone.read_bytes() == b"\xef\xbb\xbfone"
    assert (alone.stat().st_uid, alone.stat().st_gid) == owner


def test_without_changes_the_snapshot_is_the_same(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "a").write_text("one")
    first = meadow.take()
    assert (first.changed, meadow.take()) == (3, first._replace(changed=0))
    os.utime(meadow.root / "a")
    assert meadow.take().tree == first.tree


def test_ignored_large_and_nested_folders_are_left_alone(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    nested = meadow.root / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "deep").write_text("theirs")
    (meadow.root / "secret.ign").write_text("mine")
    (meadow.root / "big").write_bytes(b"x" * (meadow.most + 1))
    taken = meadow.take()
    assert (taken.large, taken.nested) == (["big"], ["nested"])
    (meadow.root / "big").write_text("small now")
    (meadow.root / ".gitignore").write_text("")  # and so nothing is ignored
    (nested / "deep").write_text("changed")
    _, outcome = meadow.restore(taken.id)
    assert outcome.kept == {"big": "was too large", "secret.ign": "ignored"}
    assert (meadow.root / ".gitignore").read_text() == "*.ign\n"
    assert (nested / "deep").read_text() == "changed"


def test_tracked_files_are_kept_although_ignored(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "kept.ign").write_text("one")
    git(meadow.root, "add", "-f", "kept.ign")
    taken = meadow.take()
    (meadow.root / "kept.ign").write_text("two")
    assert meadow.take().id != taken.id
    meadow.restore(taken.id)
    assert (meadow.root / "kept.ign").read_text() == "one"


def test_the_users_own_ignore_rules_apply(tmp_path: Path) -> None:
    """.git/info/exclude, and the list for all repositories."""
    meadow = Meadow(tmp_path)
    (tmp_path / ".config/git").mkdir(parents=True)
    (tmp_path / ".config/git/ignore").write_text("everywhere\n")
    (meadow.root / ".git/info/exclude").write_text("here\n")
    for name in ("everywhere", "here", "kept"):
        (meadow.root / name).write_text("x")
    with meadow.store() as store:
        taken = store.take(meadow.most)
        assert b"kept" in (found := store.git("ls-tree", "--name-only", taken.tree))
    assert not {b"everywhere", b"here"} & set(found.split())


def test_only_the_sessions_part_of_a_repository_is_kept(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "part").mkdir()
    (meadow.root / "part/a").write_text("one")
    (meadow.root / "other").write_text("one")
    top, meadow.root = meadow.root, meadow.root / "part"
    taken = meadow.take()
    for name in ("part/a", "other"):
        (top / name).write_text("two")
    meadow.restore(taken.id)
    assert [(top / name).read_text() for name in ("part/a", "other")] == ["one", "two"]


def test_snapshots_work_without_a_repository(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path, repository=False)
    (meadow.root / "node_modules").mkdir()
    (meadow.root / "node_modules/x").write_text("made")
    (meadow.root / "a").write_text("one")
    taken = meadow.take()
    assert taken.changed == 1
    (meadow.root / "a").unlink()
    (meadow.root / "node_modules/x").write_text("made again")
    meadow.restore(taken.id)
    assert (meadow.root / "a").read_text() == "one"
    assert (meadow.root / "node_modules/x").read_text() == "made again"


@pytest.mark.parametrize("root", ["/", "/usr", "~", "~/.."])
def test_a_home_or_system_folder_is_never_walked(tmp_path: Path, root: str) -> None:
    user = tmp_path / "users" / "me"
    user.mkdir(parents=True)
    meadow = Meadow(tmp_path)
    meadow.place, meadow.root = user, Path(root.replace("~", str(user)))
    with pytest.raises(Unfit, match="too broad"):
        meadow.take()


@pytest.mark.parametrize("root", ["home", "home/sessions", "home/sessions/0a/files"])
def test_rookerys_own_files_are_never_walked(tmp_path: Path, root: str) -> None:
    """Stores are there: each snapshot would have all others in it."""
    meadow = Meadow(tmp_path)
    meadow.root = tmp_path / root
    meadow.root.mkdir(parents=True)
    with pytest.raises(Unfit, match="own data"):
        meadow.take()
    meadow.root = tmp_path / "home" / "worktrees" / "w"
    meadow.root.mkdir(parents=True)
    assert meadow.take().id


def test_changes_made_by_others_meanwhile_stay(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    for name in ("a", "b"):
        (meadow.root / name).write_text("one")
    taken = meadow.take().id
    for name in ("a", "b"):
        (meadow.root / name).write_text("two")
    from rookery.snapshots.restore import restore

    with meadow.store() as store:
        present = store.take(meadow.most).id
        (meadow.root / "a").write_text("somebody else's")
        outcome = restore(store, present, taken)
    assert outcome.kept == {"a": "changed since"}
    assert [(meadow.root / name).read_text() for name in "ab"] == ["somebody else's", "one"]


def test_a_link_never_leads_outside(tmp_path: Path) -> None:
    """A folder that became a link: nothing is written where it leads."""
    meadow = Meadow(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (meadow.root / "lib").mkdir()
    (meadow.root / "lib/a").write_text("one")
    taken = meadow.take().id
    (meadow.root / "lib/a").write_text("two")
    from rookery.snapshots.restore import restore

    with meadow.store() as store:
        present = store.take(meadow.most).id
        (meadow.root / "lib/a").unlink()
        (meadow.root / "lib").rmdir()
        (meadow.root / "lib").symlink_to(outside)
        outcome = restore(store, present, taken)
    assert list(outcome.kept) == ["lib/a"]
    assert list(outside.iterdir()) == []


def test_empty_folders_are_restored_and_removed(tmp_path: Path) -> None:
    """Those with ignored files in them, too; an ignored folder is not looked at."""
    meadow = Meadow(tmp_path)
    (meadow.root / ".gitignore").write_text("*.ign\nbuild/\n")
    for name in ("logs", "deep/er", "src/empty", "build/made", "was/file"):
        (meadow.root / name).mkdir(parents=True)
    (meadow.root / "logs/a.ign").write_text("one")
    (meadow.root / "was/x").write_text("one")
    (meadow.root / "turned").write_text("a file")
    taken, there = meadow.take(), meadow.tree()
    for name in ("logs", "deep", "src", "was/file"):
        shutil.rmtree(meadow.root / name)
    (meadow.root / "turned").unlink()
    for name in ("turned", "new/er", "was/other"):
        (meadow.root / name).mkdir(parents=True)
    (meadow.root / "was/x").unlink()
    with meadow.store() as store:
        assert store.meta(taken.id)["folders"] == ["deep/er", "logs", "src/empty", "was/file"]
    now = meadow.tree()
    present = restored(meadow, taken.id, there)
    restored(meadow, present, now)
    assert (meadow.root / "build/made").is_dir()


def test_folders_are_removed_only_inside_the_directory(tmp_path: Path) -> None:
    """One on the way to it became a link while the rewind ran."""
    meadow = Meadow(tmp_path)
    taken = meadow.take().id
    (meadow.root / "lib/sub").mkdir(parents=True)
    (meadow.root / "lib/file").write_text("x")
    (tmp_path / "outside/sub").mkdir(parents=True)
    from rookery.snapshots.restore import restore

    with meadow.store() as store:
        present = store.take(meadow.most).id
        changed = store.git

        def swapped(*words: str, **more: object) -> bytes:
            said = changed(*words, **more)  # type: ignore[arg-type]
            if "check-ignore" in words:
                (meadow.root / "lib").rename(tmp_path / "moved")
                (meadow.root / "lib").symlink_to(tmp_path / "outside")
            return said

        store.git = swapped  # type: ignore[method-assign]
        restore(store, present, taken)
    assert (tmp_path / "outside/sub").is_dir()


def test_a_repository_in_place_of_a_file_runs_nothing(tmp_path: Path) -> None:
    """An agent that is quick enough gets it into the index; its settings are never obeyed."""
    meadow = Meadow(tmp_path)
    trap, sprung = meadow.root / "trap", tmp_path / "sprung"
    trap.write_text("a file")
    taken = meadow.take()
    trap.unlink()
    trap.mkdir()
    git(trap, "init", "-q")
    (trap / "f").write_text("x")
    git(trap, "add", "f")
    git(trap, "commit", "-qm", "first")
    with meadow.store() as store:
        store.git("update-index", "--force-remove", "trap")
        store.git("update-index", "--add", "trap")
        assert store.git("ls-files", "-s", "trap").startswith(b"160000")
    git(trap, "config", "core.fsmonitor", f"touch {sprung}; false")
    git(trap, "config", "filter.evil.clean", f"touch {sprung}; cat")
    (trap / ".gitattributes").write_text("* filter=evil\n")
    (trap / "f").write_text("y")
    meadow.take()
    meadow.restore(taken.id)
    assert not sprung.exists()
    assert (trap / "f").read_text() == "y"


def test_permissions_changed_within_a_second_are_noticed(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "key").write_text("x")
    taken = [(meadow.take().id, 0o644)]
    for mode in (0o600, 0o640, 0o400):
        (meadow.root / "key").chmod(mode)
        taken.append((meadow.take().id, mode))
    assert len({each for each, _ in taken}) == len(taken)
    for each, mode in reversed(taken):
        meadow.restore(each)
        assert (meadow.root / "key").stat().st_mode & 0o777 == mode


def test_a_killed_or_damaged_store_keeps_working(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "a").write_text("one")
    taken = meadow.take().id
    (tmp_path / "store/index.lock").write_text("left behind")
    (tmp_path / "store/index").write_bytes(b"no index")
    (meadow.root / "a").write_text("two")
    meadow.restore(taken)
    assert (meadow.root / "a").read_text() == "one"


def test_tidying_keeps_snapshots_that_the_log_knows(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    taken = []
    for each in range(3):
        (meadow.root / "a").write_text(str(each))
        taken.append(meadow.take().id)
    with meadow.store() as store:
        store.tidy(taken[:1], whole=True)
    meadow.restore(taken[0])
    assert (meadow.root / "a").read_text() == "0"
    held = subprocess.run(
        ["git", "--git-dir", str(tmp_path / "store"), "fsck"], capture_output=True, check=False
    )
    assert held.returncode == 0, held.stderr


@pytest.mark.parametrize("packed", [False, True])
def test_a_second_session_starts_from_the_firsts_snapshots(tmp_path: Path, packed: bool) -> None:
    """It reads no file again, has nothing of the first one's earlier snapshots, and needs it no
    more."""
    meadow = Meadow(tmp_path)
    (meadow.root / "a").write_text("a secret that was taken back")
    earlier = meadow.take()
    (meadow.root / "a").write_text("one")
    first = meadow.take()
    with meadow.store() as store:
        secret = store.git("rev-parse", f"{earlier.id}:a").decode().strip()
        if packed:
            store.tidy([earlier.id], whole=True)
    meadow.session = "second"
    second = meadow.take()
    assert (second.tree, second.changed) == (first.tree, 1), "it is a snapshot of its own"
    shutil.rmtree(tmp_path / "store")
    with meadow.store() as store:
        held = store.git("cat-file", "--batch-all-objects", "--batch-check")
        assert secret not in held.decode()
        store.git("fsck", "--full")
    (meadow.root / "a").write_text("two")
    meadow.restore(second.id)
    assert (meadow.root / "a").read_text() == "one"


def test_sessions_started_together_read_the_files_once(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    for number in range(50):
        (meadow.root / f"f{number}").write_text(str(number))

    def taken(session: str) -> str:
        there = copy(meadow)
        there.session = session
        return there.take().tree

    with ThreadPoolExecutor() as pool:
        trees = set(pool.map(taken, ("one", "two", "three", "four")))
    assert len(trees) == 1
    objects = [(tmp_path / session).glob("objects/??/*") for session in ("one", "two", "three")]
    known = [{each.stat().st_ino for each in found} for found in objects]
    assert len(known[0] & known[1] & known[2]) >= 50


def test_another_sessions_damaged_store_is_not_needed(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    (meadow.root / "a").write_text("one")
    tree = meadow.take().tree
    for each in (tmp_path / "store/objects").glob("??"):
        shutil.rmtree(each)
    meadow.session = "second"
    assert meadow.take().tree == tree
    with meadow.store() as store:
        store.git("fsck", "--full")


def test_a_snapshot_names_what_changed_after_the_moment_that_it_is_of(tmp_path: Path) -> None:
    meadow = Meadow(tmp_path)
    for name in ("old", "written", "moded", "gone", "d/gone"):
        (meadow.root / name).parent.mkdir(exist_ok=True)
        (meadow.root / name).write_text("1")
    meadow.take()
    (meadow.root / "before").write_text("1")
    time.sleep(0.05)  # the clock of files is coarse
    moment = time.time()
    time.sleep(0.05)
    (meadow.root / "written").write_text("2")
    (meadow.root / "new").write_text("1")
    (meadow.root / "moded").chmod(0o755)
    (meadow.root / "d" / "gone").unlink()
    with meadow.store() as store:
        store.moment = moment
        assert sorted(store.take(meadow.most).later) == ["d/gone", "moded", "new", "written"]
        assert store.take(meadow.most).later == []
