"""A patch changes all of its files or none, and the model reads which, with the SDK's own tool."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from openhands.tools.apply_patch.definition import (
    ApplyPatchAction,
    ApplyPatchExecutor,
    ApplyPatchObservation,
)

from rookery.agent.files.changes import Changes, NotPutBack
from rookery.agent.sdk_patches import apply_patch

FIRST = (
    *("*** Add File: deep/er/new", "+hello", "*** Delete File: gone"),
    *("*** Update File: old", "*** Move to: deep/moved", "@@", "-x", "+y"),
    *("*** Update File: run", "@@", "-two", "+2"),
)
"""One of each kind, before the one that fails."""
UPDATE_LATE = ("*** Update File: late", "@@", "-a", "+b")


def apply(place: Path, *lines: str) -> ApplyPatchObservation:
    apply_patch.install()
    patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    return ApplyPatchExecutor(str(place))(ApplyPatchAction(patch=patch))


def state(place: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below: kind and mode, and what is in it."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in place.rglob("*"):
        inside: bytes | str = b""
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            inside = os.readlink(path)
        elif stat.S_ISREG(mode):
            inside = path.read_bytes()
        found[str(path.relative_to(place))] = mode, inside
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {"gone": "bye\n", "old": "x\n", "run": "one\ntwo\n", "late": "a\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "run").chmod(0o750)
    return tmp_path


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process grows beyond 1,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (("*** Add File: run/below", "+x"), "run/below: Not a directory"),
        (("*** Update File: deep", "@@", "-a", "+b"), "deep is not a file"),
        (("*** Update File: pipe", "@@", "-a", "+b"), "pipe is not a file"),
        (("*** Update File: bytes", "@@", "-a", "+b"), "Invalid Context"),
        (("*** Add File: half", "+\ud800"), "not valid UTF-8"),
        (("*** Add File: deep", "+x"), "is a directory"),
        (("*** Update File: late", "@@", "-nothing", "+b"), "Invalid Context"),
        (("*** Update File: late", "*** Frame"), "Invalid Line"),
        (("*** Update File: ./run", "@@", "-two", "+3"), "writes ./run twice"),
        (("*** Add File: ../out", "+x"), "not allowed"),
    ],
)
def test_a_failed_patch_changes_nothing(tree: Path, last: tuple[str, ...], said: str) -> None:
    (tree / "bytes").write_bytes(b"a\xff\n")
    (tree / "deep").mkdir()
    os.mkfifo(tree / "pipe")
    before = state(tree)
    seen = apply(tree, *FIRST, *last)
    assert seen.is_error
    assert said in seen.text
    assert seen.text.endswith("No file was changed.")
    assert state(tree) == before


def test_a_patch_on_a_full_disk_changes_nothing(tree: Path) -> None:
    before = state(tree)
    with full_disk():
        seen = apply(tree, *FIRST, "*** Add File: large", "+" + "x" * 2000)
    assert seen.is_error
    assert "File too large. No file was changed." in seen.text
    assert state(tree) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_patch_with_a_read_only_file_changes_nothing(tree: Path) -> None:
    (tree / "late").chmod(0o444)
    before = state(tree)
    assert "late: is read-only. No file was changed." in apply(tree, *FIRST, *UPDATE_LATE).text
    assert state(tree) == before


def test_renames_of_a_failed_patch_are_undone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever renaming fails; and where putting back fails too, the model reads where it is."""
    written = {str(tree / "run"): b"1", str(tree / "new" / "one"): b"2", str(tree / "late"): b"3"}
    before, rename, replace = state(tree), os.rename, os.replace
    left = 0

    def fails(move: object) -> object:
        def moved(old: str, new: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(5, "Input/output error", new)
            move(old, new)  # type: ignore[operator]

        return moved

    monkeypatch.setattr(os, "rename", fails(rename))
    monkeypatch.setattr(os, "replace", fails(replace))
    for failing in range(1, 5):
        left = failing
        with pytest.raises(OSError, match="Input/output"):
            Changes(written, [str(tree / "gone")]).make()
        assert state(tree) == before
    monkeypatch.setattr(os, "replace", lambda old, new: (_ for _ in ()).throw(OSError(5, "no")))
    with pytest.raises(NotPutBack, match=r"gone is now at .*/\.rookery-old-"):
        Changes(written, [str(tree / "gone")]).make()


def test_a_patch_keeps_permissions_line_endings_and_links(tree: Path) -> None:
    (tree / "crlf").write_bytes(b"one\r\ntwo\r\n")
    (tree / "link").symlink_to("run")
    (tree / "other").symlink_to("late")
    seen = apply(
        tree,
        *FIRST[:-4],
        *("*** Update File: link", "@@", "-two", "+2"),
        *("*** Update File: crlf", "@@", " one", "-two", "+2", "+3"),
        "*** Delete File: other",
    )
    assert (seen.is_error, seen.text) == (False, "Done!")
    found = state(tree)
    assert sorted(found) == [
        *("crlf", "deep", "deep/er", "deep/er/new", "deep/moved", "late", "link", "run")
    ]
    assert found["run"] == (stat.S_IFREG | 0o750, b"one\n2\n")
    assert found["link"][1] == "run"
    assert found["crlf"][1] == b"one\r\n2\r\n3\r\n"
    assert found["late"][1] == b"a\n"


def test_renamed_files_lose_nothing(tree: Path) -> None:
    seen = apply(
        tree,
        *("*** Update File: old", "*** Move to: late", "@@", "-x", "+y"),
        *("*** Update File: late", "*** Move to: old", "@@", "-a", "+b"),
        *("*** Update File: run", "*** Move to: run", "@@", "-two", "+2"),
    )
    assert not seen.is_error
    texts = {name: inside for name, (_, inside) in state(tree).items()}
    assert texts == {"gone": b"bye\n", "late": b"y\n", "old": b"b\n", "run": b"one\n2\n"}
