"""Which build this is, and which of two is newer."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rookery import build

ROOT = Path(__file__).parents[2]
OWN = "0.1.0+aaaaaaaaaaaa.20260102030405"

ORDERS = {
    OWN: build.SAME,
    "0.1.0+aaaaaaaaaaaa": build.SAME,  # a checkout of the same commit
    "0.1.0": build.OLDER,  # a wheel from before there were stamps
    "0.1.0+bbbbbbbbbbbb.20260102030404": build.OLDER,
    "0.1.0+bbbbbbbbbbbb.20260102030406": build.NEWER,
    "0.1.0+none.20260102030406.12345678": build.NEWER,
    # The same commit and version, and yet another wheel: built of a changed tree.
    "0.1.0+aaaaaaaaaaaa.20260102030406.12345678": build.NEWER,
    "0.1.0+bbbbbbbbbbbb.20260102030405": build.DIFFERS,
    "0.1.0+bbbbbbbbbbbb": build.DIFFERS,
    "0.1.0+unknown": build.DIFFERS,
    "0.0.9+bbbbbbbbbbbb.20270101000000": build.OLDER,
    "0.10.0+bbbbbbbbbbbb.20250101000000": build.NEWER,
    "0.10.0+x.y.z.and.more": build.NEWER,
}


@pytest.mark.parametrize(("theirs", "order"), ORDERS.items())
def test_the_order_of_two_builds_is_known_or_said_to_be_unknown(theirs: str, order: str) -> None:
    assert build.compare(theirs, OWN) == order


def test_people_read_the_commit_and_the_day() -> None:
    assert build.described(OWN) == "0.1.0 (aaaaaaaaaaaa, 2026-01-02)"
    assert build.described("0.1.0+aaaaaaaaaaaa") == "0.1.0 (aaaaaaaaaaaa)"
    changed = "0.1.0+aaaaaaaaaaaa.20260102030405.12345678"
    assert build.described(changed) == "0.1.0 (aaaaaaaaaaaa with changes, 2026-01-02)"
    assert build.described("0.1.0+unknown") == build.described("0.1.0") == "0.1.0"


class Tree:
    """A small tree of this project's: what names a build, without the rest."""

    def __init__(self, place: Path) -> None:
        self.place = place
        package = place / "src" / "rookery"
        package.mkdir(parents=True)
        (package / "core").mkdir()
        for name in ("build.py", "__init__.py", "core/__init__.py", "core/refusals.py"):
            shutil.copy(ROOT / "src" / "rookery" / name, package / name)
        for name in ("git", "installation"):
            shutil.copytree(ROOT / "src" / "rookery" / name, package / name)
        for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, place)
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        user = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *user, *words], cwd=self.place, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self) -> str:
        """Named after the branch: two made on one parent within a second would be one commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", self.git("branch", "--show-current"))
        return self.git("rev-parse", "HEAD")[:12]

    def says(self, expression: str, place: str = "") -> str:
        """What the build of this tree, or of another place of it, says."""
        code = f"from rookery.build import *; print({expression})"
        environment = os.environ | {"PYTHONPATH": place or str(self.place / "src")}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def wheel(self) -> str:
        """The stamp of a wheel that is built now."""
        out = self.place / "dist"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
            cwd=self.place,
            check=True,
            capture_output=True,
        )
        [wheel] = out.iterdir()
        unpacked = self.place / "unpacked"
        with zipfile.ZipFile(wheel) as file:
            file.extractall(unpacked)
        shutil.rmtree(out)
        return self.says("build()", str(unpacked))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree")


def test_checkouts_are_ordered_by_their_history_and_worktrees_are_checkouts(tree: Tree) -> None:
    first, second = tree.commit(), tree.commit()
    assert tree.says("build()").endswith(f"+{second}")
    worktree = tree.place.parent / "side"
    tree.git("worktree", "add", "-q", "-b", "side", str(worktree), first)
    side = str(worktree / "src")
    assert tree.says("build()", side).endswith(f"+{first}")
    tree.git("pack-refs", "--all")
    assert tree.says("build()", side).endswith(f"+{first}")
    version = tree.says("build()").partition("+")[0]
    assert tree.says(f"compare('{version}+{first}')") == build.OLDER
    assert tree.says(f"compare('{version}+{second}')", side) == build.NEWER
    tree.git("switch", "-q", "-c", "fork", first)
    other = tree.commit()
    said = tree.says(f"build(), compare('{version}+{second}')")
    assert said == f"{version}+{other} differs", "neither comes from the other"


def test_the_order_is_told_without_what_the_checkouts_configuration_names(tree: Tree) -> None:
    """Git fetches what a partial clone lacks, in the way that its configuration says."""
    tree.commit()
    absent = tree.git("rev-parse", "HEAD")[::-1]
    ran = tree.place.parent / "ran"
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c :>{ran}",
        "protocol.ext.allow": "always",
    }.items():
        tree.git("config", key, value)
    version = tree.says("build()").partition("+")[0]
    assert tree.says(f"compare('{version}+{absent}')") == build.DIFFERS
    assert not ran.exists()


def test_a_wheel_is_stamped_with_its_source_and_a_rebuilt_one_is_told_apart(tree: Tree) -> None:
    commit = tree.commit()
    clean = tree.wheel()
    assert build.parts(clean).commit == commit
    assert build.parts(clean).digest == ""
    assert tree.wheel() == clean, "the same source is the same build"
    with (tree.place / "src" / "rookery" / "build.py").open("a") as file:
        file.write("\n# changed\n")
    changed = tree.wheel()
    assert build.parts(changed).source != build.parts(clean).source
    assert build.compare(changed, clean) in (build.NEWER, build.DIFFERS)
    shutil.rmtree(tree.place / ".git")
    bare = build.parts(tree.wheel())
    assert (bare.commit, bare.digest) == ("none", build.parts(changed).digest)
