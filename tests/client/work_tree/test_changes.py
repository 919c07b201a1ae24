"""What changed is told as git tells it, whatever the files are."""

import subprocess
from pathlib import Path

import pytest

from rookery.client.work_tree import changes as module
from rookery.client.work_tree.changes import NoDiff, changes, commit_at
from tests.client.work_tree.trees import Tree


def notes(tree: Tree) -> dict[str, tuple[str, str]]:
    return {f.change.path: (f.change.state, f.note) for f in changes(tree.cwd).files}


def test_each_file_has_its_kind_of_change(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t", text="a\n", kind="a\n", gone="a\n", bits="a\n", raw=b"\0a")
    (tree.place / "kind").unlink()
    (tree.place / "kind").symlink_to("text")
    (tree.place / "gone").unlink()
    (tree.place / "bits").chmod(0o755)
    tree.put({"raw": b"\0b", "text": "b\n", "huge": "x" * (module.FILE_BYTES + 1), "none": ""})
    tree.put({"bin": b"\0"})
    assert notes(tree) == {
        "text": ("modified", ""),
        "kind": ("modified", ""),
        "gone": ("deleted", ""),
        "bits": ("modified", "mode"),
        "raw": ("modified", "binary"),
        "huge": ("untracked", "large"),
        "none": ("untracked", ""),
        "bin": ("untracked", "binary"),
    }
    kind = changes(tree.cwd).file("kind")
    assert kind is not None
    assert [line for hunk in kind.hunks for line in hunk.lines][:2] == [b"-a", b"+text"]
    assert all(file.digest for file in changes(tree.cwd).files)


def test_a_conflict_is_one_file(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t", a="one\n", z="z\n")
    tree.git("checkout", "-qb", "other")
    tree.put({"a": "theirs\n"})
    tree.save()
    tree.git("checkout", "-q", "main")
    tree.put({"a": "ours\n"})
    tree.save()
    with pytest.raises(subprocess.CalledProcessError):
        tree.git("merge", "-q", "other")
    tree.put({"z": "zz\n"})
    found = changes(tree.cwd)
    assert notes(tree) == {"a": ("modified", "conflict"), "z": ("modified", "")}
    last = found.file("z")
    assert last is not None
    assert last.hunks[0].lines == [b"-z", b"+zz"]


def test_only_the_beginning_of_a_huge_patch_is_shown(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t", a="1\n", b="1\n", c="1\n")
    line = "x" * 99 + "\n"
    tree.put({"a": "2\n", "b": line * 30_000, "c": "2\n", "new": "n\n"})
    found = changes(tree.cwd)
    assert found.cut
    a, b, c, new = found.files
    assert len(a.hunks) == 1
    assert (b.hunks, b.note, b.change.added) == ((), "cut", 30_000)
    assert (c.note, c.change.added, new.note) == ("cut", 1, "cut")
    assert sum(len(file.patch) for file in found.files) <= module.PATCH_BYTES


def test_hunks_have_their_line_numbers(tmp_path: Path) -> None:
    lines = [f"{n}\n" for n in range(1, 61)]
    tree = Tree(tmp_path / "t", a__py="def first():\n" + "".join(lines))
    lines[30] = "changed\n"
    lines[50] = ""
    tree.put({"a.py": "def first():\n" + "".join(lines)})
    (file,) = changes(tree.cwd).files
    assert [(hunk.old, hunk.new, hunk.head) for hunk in file.hunks] == [
        (29, 29, "def first():"),
        (49, 49, "def first():"),
    ]
    assert len({hunk.id for hunk in file.hunks}) == 2


def test_the_base_is_head_when_the_session_began(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t", a="1\n")
    first = tree.git("rev-parse", "HEAD").strip()
    assert commit_at(tree.cwd, 2**33) == first
    assert commit_at(str(tmp_path), 2**33) == ""


def test_a_directory_without_a_repository_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoDiff) as caught:
        changes(str(tmp_path))
    assert caught.value.reason == "no_git"


@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_a_repository_that_lacks_objects_is_said_to(tmp_path: Path, kind: str) -> None:
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    named = {"blob": "HEAD:a.txt", "tree": "HEAD^{tree}", "commit": "HEAD"}[kind]
    name = tree.git("rev-parse", named).strip()
    (tree.place / "a.txt").write_text("two\n")
    (tree.place / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(NoDiff, match=f"lacks objects that its commit needs, such as {name[:12]}"):
        changes(tree.cwd)
