"""A hunk or a file is undone as it was shown, or not at all."""

import os
import stat
from pathlib import Path

import pytest

from rookery.client.work_tree import undo
from rookery.client.work_tree.changes import NoDiff, changes
from rookery.snapshots import place
from tests.client.work_tree.trees import Tree

LINES = "".join(f"line {n}\n" for n in range(1, 41))


@pytest.fixture
def kept(tmp_path: Path) -> str:
    """A session's directory."""
    found = tmp_path / "session"
    found.mkdir()
    return str(found)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree", a__txt=LINES, b__txt="one\ntwo\n")


def edited(text: str, **lines: str) -> str:
    rows = text.splitlines(keepends=True)
    for name, line in lines.items():
        rows[int(name[1:]) - 1] = line
    return "".join(rows)


def undone(tree: Tree, kept: str, path: str, hunk: int | None = None) -> undo.Undone:
    found = changes(tree.cwd)
    file = found.file(path)
    assert file is not None
    name = "" if hunk is None else file.hunks[hunk].id
    return undo.undo(tree.cwd, kept, found.base, path, file.digest, name)


def refusal(tree: Tree, kept: str, path: str, hunk: int | None = None) -> str:
    with pytest.raises(NoDiff) as caught:
        undone(tree, kept, path, hunk)
    return caught.value.reason


def test_one_of_two_hunks_is_undone_and_restored(tree: Tree, kept: str) -> None:
    tree.put({"a.txt": edited(LINES, _3="third\n", _30="", _31="new\nnewer\n")})
    before = tree.read("a.txt")
    done = undone(tree, kept, "a.txt", 1)
    assert tree.read("a.txt").decode() == edited(LINES, _3="third\n")
    assert undo.put_back(tree.cwd, kept, done.id).paths == ["a.txt"]
    assert tree.read("a.txt") == before
    with pytest.raises(NoDiff, match="no longer be restored"):
        undo.put_back(tree.cwd, kept, done.id)


@pytest.mark.parametrize(
    "after",
    [
        edited(LINES, _1="", _2=""),
        "above\n" + LINES,
        LINES + "below\n",
        LINES + "no end",
        LINES[:-1],
        edited(LINES, _39="", _40=""),
        edited(LINES, _20="changed\n"),
        "",
        edited(LINES, _10="a\x0bb\x0c\x85\u2028c\n"),
        edited(LINES, _10="only\rreturn\n"),
    ],
)
def test_undoing_the_only_hunk_undoes_the_file(tree: Tree, kept: str, after: str) -> None:
    tree.put({"a.txt": after})
    undone(tree, kept, "a.txt", 0)
    assert tree.read("a.txt").decode() == LINES
    assert tree.status() == ""


def test_a_missing_last_newline_is_undone_correctly(tmp_path: Path, kept: str) -> None:
    tree = Tree(tmp_path / "t", a__txt="one\ntwo")
    for after in ("one\ntwo\n", "one\n2", "one\n2\n", "one\n", "one\ntwo\nthree"):
        tree.put({"a.txt": after})
        undone(tree, kept, "a.txt", 0)
        assert tree.read("a.txt") == b"one\ntwo"


def test_a_file_changed_since_is_left_alone(tree: Tree, kept: str) -> None:
    tree.put({"a.txt": edited(LINES, _3="third\n")})
    shown = changes(tree.cwd)
    tree.put({"a.txt": edited(LINES, _3="third\n", _30="agent\n")})
    file = shown.files[0]
    for hunk in ("", file.hunks[0].id):
        with pytest.raises(NoDiff) as caught:
            undo.undo(tree.cwd, kept, shown.base, "a.txt", file.digest, hunk)
        assert caught.value.reason == "changed_since"
    assert b"agent" in tree.read("a.txt")
    assert b"third" in tree.read("a.txt")


def test_restoring_does_not_overwrite_later_changes(tree: Tree, kept: str) -> None:
    tree.put({"b.txt": "one\n2\n"})
    done = undone(tree, kept, "b.txt")
    tree.put({"b.txt": "one\nagent\n"})
    with pytest.raises(NoDiff) as caught:
        undo.put_back(tree.cwd, kept, done.id)
    assert caught.value.reason == "changed_since"
    assert tree.read("b.txt") == b"one\nagent\n"


@pytest.mark.parametrize("name", ["../x", "", "0" * 16, "0" * 15 + "/", "\0"])
def test_only_what_was_undone_here_is_restored(tree: Tree, kept: str, name: str) -> None:
    with pytest.raises(NoDiff) as caught:
        undo.put_back(tree.cwd, kept, name)
    assert caught.value.reason == "unknown_undo"


def test_line_endings_and_permissions_are_kept(tmp_path: Path, kept: str) -> None:
    crlf = LINES.replace("\n", "\r\n")
    tree = Tree(tmp_path / "t", a__txt=crlf, run__sh="#!/bin/sh\n1\n")
    (tree.place / "run.sh").chmod(0o750)
    tree.save()
    tree.put({"a.txt": edited(crlf, _3="third\r\n", _30="x\r\n"), "run.sh": "#!/bin/sh\n2\n"})
    (tree.place / "run.sh").chmod(0o750)
    undone(tree, kept, "a.txt", 0)
    assert tree.read("a.txt").decode() == edited(crlf, _30="x\r\n")
    undone(tree, kept, "run.sh", 0)
    assert stat.S_IMODE(os.stat(tree.place / "run.sh").st_mode) == 0o750
    assert "run.sh" not in tree.status()


def test_line_endings_that_git_converts_are_kept(tmp_path: Path, kept: str) -> None:
    """With `text eol=crlf`, git compares texts without the carriage returns."""
    tree = Tree(tmp_path / "t", __gitattributes="*.txt text eol=crlf\n")
    crlf = LINES.replace("\n", "\r\n")
    tree.put({"a.txt": crlf})
    tree.save()
    tree.put({"a.txt": edited(crlf, _3="third\r\n", _30="x\r\n")})
    assert b"\r" not in b"".join(changes(tree.cwd).files[0].hunks[0].lines)
    undone(tree, kept, "a.txt", 0)
    assert tree.read("a.txt").decode() == edited(crlf, _30="x\r\n")
    undone(tree, kept, "a.txt")
    assert tree.read("a.txt").decode() == crlf


def test_new_deleted_renamed_and_linked_files_are_undone(tree: Tree, kept: str) -> None:
    tree.put({"deep/new.txt": "new\n", "staged.txt": "staged\n"})
    tree.git("add", "staged.txt")
    (tree.place / "b.txt").unlink()
    tree.git("mv", "a.txt", "moved.txt")
    ids = {path: undone(tree, kept, path) for path in ("deep/new.txt", "staged.txt", "b.txt")}
    moved = undone(tree, kept, "moved.txt")
    assert tree.status() == ""
    assert sorted(moved.paths) == ["a.txt", "moved.txt"]
    for done in (*ids.values(), moved):
        undo.put_back(tree.cwd, kept, done.id)
    assert tree.read("deep/new.txt") == b"new\n"
    assert tree.read("staged.txt") == b"staged\n"
    assert not (tree.place / "b.txt").exists()
    assert tree.read("moved.txt").decode() == LINES
    assert not (tree.place / "a.txt").exists()


def test_a_deleted_file_in_a_deleted_folder_comes_back(tmp_path: Path, kept: str) -> None:
    tree = Tree(tmp_path / "t")
    tree.put({"x/y/z.sh": "1\n"})
    (tree.place / "x/y/z.sh").chmod(0o755)
    tree.save()
    tree.git("rm", "-qr", "x")
    undone(tree, kept, "x/y/z.sh")
    assert tree.status() == ""
    assert os.access(tree.place / "x/y/z.sh", os.X_OK)


def test_links_are_undone_as_links(tmp_path: Path, kept: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    tree = Tree(tmp_path / "t", a__txt="one\n")
    (tree.place / "link").symlink_to("a.txt")
    tree.save()
    (tree.place / "link").unlink()
    (tree.place / "link").symlink_to(secret)
    (tree.place / "a.txt").unlink()
    (tree.place / "a.txt").symlink_to(secret)  # a file that became a link
    done = [undone(tree, kept, "link"), undone(tree, kept, "a.txt")]
    assert (os.readlink(tree.place / "link"), tree.read("a.txt")) == ("a.txt", b"one\n")
    assert tree.status() == ""
    undo.put_back(tree.cwd, kept, done[1].id)
    assert os.readlink(tree.place / "a.txt") == str(secret)
    assert secret.read_text() == "secret\n"


def test_no_path_leads_out_of_the_directory(tmp_path: Path, kept: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs\n")
    tree = Tree(tmp_path / "t")
    tree.put({"sub/a.txt": "ours\n"})
    tree.save()
    (tree.place / "sub" / "a.txt").unlink()
    (tree.place / "sub").rmdir()
    (tree.place / "sub").symlink_to(outside)
    assert refusal(tree, kept, "sub/a.txt") in ("not_undoable", "changed_since")
    assert (outside / "a.txt").read_text() == "theirs\n"
    for path in ("../outside/a.txt", "/etc/passwd", "sub/../../x", ".git/config", "", "a\0b"):
        with pytest.raises(NoDiff):
            undo.undo(tree.cwd, kept, "", path, "0" * 32)
        with pytest.raises(place.Outside):
            place.write(tree.cwd, path, place.Content(place.FILE, 0o644, b"x"))


ODD = [
    'quo"te.txt',
    "new\nline.txt",
    "-dash",
    "grüße 日本.txt",
    "tab\there",
    "*?[a]",
    ":(top)x",
    " ",
]


def test_files_with_odd_names_are_undone(tmp_path: Path, kept: str) -> None:
    tree = Tree(tmp_path / "t", a__txt="x\n")
    tree.put(dict.fromkeys(ODD, "one\ntwo\n"))
    tree.save()
    tree.put(dict.fromkeys(ODD, "one\n2\n"))
    tree.put({f"new {name}": "n\n" for name in ODD})
    found = changes(tree.cwd)
    assert {file.change.path for file in found.files} == {*ODD, *(f"new {n}" for n in ODD)}
    assert all(len(file.hunks) == 1 for file in found.files)
    for name in ODD:
        undone(tree, kept, name, 0)
        undone(tree, kept, f"new {name}")
    assert tree.status() == ""


def test_undo_works_in_a_subfolder_of_the_repository(tmp_path: Path, kept: str) -> None:
    tree = Tree(tmp_path / "t")
    tree.put({"sub/a.txt": "one\n", "top.txt": "top\n"})
    tree.save()
    tree.put({"sub/a.txt": "two\n", "top.txt": "changed\n", "sub/new": "x"})
    tree.cwd = str(tree.place / "sub")
    assert [file.change.path for file in changes(tree.cwd).files] == ["a.txt", "new"]
    undone(tree, kept, "a.txt")
    assert (tree.read("sub/a.txt"), tree.read("top.txt")) == (b"one\n", b"changed\n")


def test_changes_that_cannot_be_undone_say_so(tmp_path: Path, kept: str) -> None:
    inner = Tree(tmp_path / "inner", x__txt="1\n")
    tree = Tree(tmp_path / "t", big__txt="pointer\n")
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.cwd, "sub")
    tree.put({".gitattributes": "big.txt filter=lfs\n"})
    tree.save()
    subtree = Tree.__new__(Tree)
    subtree.place, subtree.cwd = tree.place / "sub", str(tree.place / "sub")
    subtree.put({"x.txt": "2\n"})
    subtree.save()
    tree.put({"big.txt": "changed\n"})
    notes = {file.change.path: file.note for file in changes(tree.cwd).files}
    assert notes == {"sub": "submodule", "big.txt": ""}
    with pytest.raises(NoDiff, match="submodule") as caught:
        undo.undo(tree.cwd, kept, "", "sub", "")
    assert caught.value.reason == "not_undoable"
    assert refusal(tree, kept, "big.txt") == "not_undoable"


def test_before_the_first_commit_new_files_are_removed(tmp_path: Path, kept: str) -> None:
    tree = Tree(tmp_path / "t")
    tree.put({"a.txt": "a\n", "b.txt": "b\n"})
    tree.git("add", "a.txt")
    for path in ("a.txt", "b.txt"):
        undo.put_back(tree.cwd, kept, undone(tree, kept, path).id)
        undone(tree, kept, path)
    assert not (tree.place / "a.txt").exists()
    assert changes(tree.cwd).files == []


def test_the_undo_store_is_bounded(tree: Tree, kept: str) -> None:
    for n in range(undo.KEPT + 5):
        tree.put({"new.txt": str(n)})
        undone(tree, kept, "new.txt")
    assert len(os.listdir(os.path.join(kept, undo.FOLDER))) == undo.KEPT


def test_large_files_and_future_timestamps_are_handled(tmp_path: Path, kept: str) -> None:
    large = b"x" * 99 + b"\n"
    tree = Tree(tmp_path / "t", big__txt=large * 50_000, a__txt="one\n")
    tree.put({"big.txt": b"new\n" + large * 50_000, "a.txt": "two\n"})
    os.utime(tree.place / "a.txt", (2**33, 2**33))
    done = [undone(tree, kept, "big.txt", 0), undone(tree, kept, "a.txt", 0)]
    assert tree.status() == ""
    for each in done:
        undo.put_back(tree.cwd, kept, each.id)
    assert tree.read("big.txt")[:4] == b"new\n"
    undone(tree, kept, "big.txt")
    assert tree.read("big.txt") == large * 50_000
