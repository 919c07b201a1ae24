"""An edit changes what it says and nothing else of a file: every editor with every kind of file, by
the SDK's own tools, byte for byte."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openhands.tools.apply_patch.definition import ApplyPatchAction, ApplyPatchExecutor
from openhands.tools.file_editor import impl
from openhands.tools.file_editor.definition import FileEditorAction
from openhands.tools.gemini.edit.definition import EditAction
from openhands.tools.gemini.edit.impl import EditExecutor
from openhands.tools.gemini.read_file.definition import ReadFileAction
from openhands.tools.gemini.read_file.impl import ReadFileExecutor
from openhands.tools.gemini.write_file.definition import WriteFileAction
from openhands.tools.gemini.write_file.impl import WriteFileExecutor
from openhands.tools.planning_file_editor.definition import PlanningFileEditorAction
from openhands.tools.planning_file_editor.impl import PlanningFileEditorExecutor

from rookery.agent.files.text import Text
from rookery.agent.sdk_patches import apply_patch, editors

BEFORE, AFTER = "one\ntwo\n", "one\n2\nü\n"
"""What each editor replaces with what: over the end of a line, with a letter that is not ASCII."""


EXECUTOR: list[impl.FileEditorExecutor] = []
"""The last one is the test's: it remembers what it can undo."""


def file_editor(command: Any, path: Path, **given: Any) -> Any:
    return EXECUTOR[-1](FileEditorAction(command=command, path=str(path), **given))


def str_replace(path: Path) -> Any:
    return file_editor("str_replace", path, old_str=BEFORE, new_str=AFTER)


def str_replace_crlf(path: Path) -> Any:
    """A model that sends what it saw elsewhere."""
    old, new = BEFORE.replace("\n", "\r\n"), AFTER.replace("\n", "\r\n")
    return file_editor("str_replace", path, old_str=old, new_str=new)


def planning(path: Path) -> Any:
    executor = PlanningFileEditorExecutor(str(path.parent), str(path))
    given: dict[str, Any] = {"old_str": BEFORE, "new_str": AFTER}
    return executor(PlanningFileEditorAction(command="str_replace", path=str(path), **given))


def edit(path: Path) -> Any:
    executor = EditExecutor(str(path.parent))
    return executor(EditAction(file_path=path.name, old_string=BEFORE, new_string=AFTER))


def write_file(path: Path) -> Any:
    text = Text(path.read_bytes()).text.replace(BEFORE, AFTER)
    executor = WriteFileExecutor(str(path.parent))
    return executor(WriteFileAction(file_path=str(path), content=text))


def patch(path: Path) -> Any:
    added = (f"+{line}" for line in AFTER.splitlines()[1:])
    lines = (f"*** Update File: {path.name}", "@@", " one", "-two", *added)
    whole = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return ApplyPatchExecutor(str(path.parent))(ApplyPatchAction(patch=whole))


EDITORS: tuple[Callable[[Path], Any], ...] = (
    *(str_replace, str_replace_crlf, planning, edit, write_file, patch),
)

FILES: dict[str, tuple[bytes, bytes]] = {
    "LF": (b"zero\none\ntwo\nend\n", b"zero\none\n2\n\xc3\xbc\nend\n"),
    "CRLF": (b"zero\r\none\r\ntwo\r\nend\r\n", b"zero\r\none\r\n2\r\n\xc3\xbc\r\nend\r\n"),
    "CR": (b"zero\rone\rtwo\rend\r", b"zero\rone\r2\r\xc3\xbc\rend\r"),
    "mixed": (
        b"zero\r\none\ntwo\r\nend\n\r\nlast\r\nodd\rx\n",
        b"zero\r\none\n2\r\n\xc3\xbc\r\nend\n\r\nlast\r\nodd\rx\n",
    ),
    "no last line end": (b"one\r\ntwo\r\nend", b"one\r\n2\r\n\xc3\xbc\r\nend"),
    "BOM": (b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbfone\r\n2\r\n\xc3\xbc\r\n"),
    "Latin-1": (b"caf\xe9\none\ntwo\nna\xefve\n", b"caf\xe9\none\n2\n\xfc\nna\xefve\n"),
    "Latin-1 and CRLF": (b"caf\xe9\r\none\r\ntwo\r\n", b"caf\xe9\r\none\r\n2\r\n\xfc\r\n"),
    "declared": (
        b"# coding: iso-8859-15\n\xa4\none\ntwo\n",
        b"# coding: iso-8859-15\n\xa4\none\n2\n\xfc\n",
    ),
    "UTF-16": (
        b"\xff\xfe" + "é\r\none\r\ntwo\r\n".encode("utf-16-le"),
        b"\xff\xfe" + "é\r\none\r\n2\r\nü\r\n".encode("utf-16-le"),
    ),
    "broken UTF-8": (
        "grüße 日本".encode() + b"\xff\x80 \xef\xbf\xbd\none\ntwo\n\xe9 end\n",
        "grüße 日本".encode() + b"\xff\x80 \xef\xbf\xbd\none\n2\n\xc3\xbc\n\xe9 end\n",
    ),
    "broken UTF-8, mixed": (
        "日本語".encode() + b"\xff\r\none\ntwo\nend\n",
        "日本語".encode() + b"\xff\r\none\n2\n\xc3\xbc\nend\n",
    ),
    "other separators": (
        "a\x0cb\u2028c\x85d\none\ntwo\n".encode(),
        "a\x0cb\u2028c\x85d\none\n2\nü\n".encode(),
    ),
    "empty lines": (b"\r\n\r\none\r\ntwo\r\n\r\n\r\n", b"\r\n\r\none\r\n2\r\n\xc3\xbc\r\n\r\n\r\n"),
}


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the file, in a directory of its own."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    editors.install()
    editors.install_gemini()
    apply_patch.install()
    (tmp_path / "work").mkdir()
    EXECUTOR.append(impl.FileEditorExecutor(str(tmp_path / "work")))
    return tmp_path / "work" / "note.txt"


def check(seen: Any) -> None:
    assert not seen.is_error, seen.text


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("editor", EDITORS)
def test_an_edit_keeps_lines_and_encoding(
    path: Path, editor: Callable[[Path], Any], kind: str
) -> None:
    before, after = FILES[kind]
    path.write_bytes(before)
    check(editor(path))
    assert path.read_bytes() == after


@pytest.mark.parametrize("kind", FILES)
def test_an_insertion_keeps_lines_and_encoding_and_an_undo_restores_each_byte(
    path: Path, kind: str
) -> None:
    before, _ = FILES[kind]
    path.write_bytes(before)
    first = Text(before).text.partition("\n")[0]
    check(file_editor("insert", path, insert_line=1, new_str="ü"))
    inserted = Text(path.read_bytes())
    assert inserted.text == Text(before).text.replace(f"{first}\n", f"{first}\nü\n", 1)
    check(file_editor("undo_edit", path))
    assert path.read_bytes() == before
    check(str_replace(path))
    check(file_editor("str_replace", path, old_str=AFTER, new_str="gone"))
    for _ in range(2):
        check(file_editor("undo_edit", path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("editor", EDITORS)
def test_an_edit_keeps_permissions_owner_and_links(
    path: Path, editor: Callable[[Path], Any]
) -> None:
    """Of a file that a link leads to, and that has a second name."""
    target, twin = path.with_name("target"), path.with_name("twin")
    target.write_text(BEFORE)
    target.chmod(0o2755)
    if os.geteuid() == 0:
        os.chown(target, 1234, 1235)
        target.chmod(0o2755)
    os.setxattr(target, "user.note", b"mine")
    before = target.stat()
    path.symlink_to("target")
    check(editor(path))
    assert os.readlink(path) == "target"
    assert target.read_text() == AFTER
    after = target.stat()
    assert stat.S_IMODE(after.st_mode) == 0o2755
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert os.getxattr(target, "user.note") == b"mine"
    target.write_text(BEFORE)
    os.link(target, twin)
    check(editor(path))
    assert twin.samefile(target)
    assert twin.read_text() == AFTER
    assert sorted(each.name for each in path.parent.iterdir()) == ["note.txt", "target", "twin"]


@pytest.mark.parametrize("editor", EDITORS)
def test_a_letter_that_the_encoding_lacks_is_refused_in_words(
    path: Path, editor: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "AFTER", "one\n→\n")
    before = b"# coding: latin-1\ncaf\xe9\none\ntwo\n"
    path.write_bytes(before)
    seen = editor(path)
    assert seen.is_error
    assert "latin-1, which has no '→' (U+2192)" in seen.text
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("read", "text"),
    [(b"caf\xe9\r\n", "caf\u00e9\n"), ("日本 ".encode() + b"\xff\n", "日本 \ufffd\n")],
)
def test_every_reader_shows_the_text_that_editors_match(path: Path, read: bytes, text: str) -> None:
    path.write_bytes(read)
    viewed = file_editor("view", path).text
    shown = ReadFileExecutor(str(path.parent))(ReadFileAction(file_path=str(path))).text
    assert viewed.endswith(f"\t{text}")
    assert shown.endswith(f"  {text}")


def test_an_undecodable_byte_survives_a_change_of_its_own_line(path: Path) -> None:
    path.write_bytes("日本 ".encode() + b"\xff two \xfe\r\nend\n")
    old, new = "日本 \ufffd two \ufffd\n", "日本語 \ufffd 2 \ufffd!\n"
    check(file_editor("str_replace", path, old_str=old, new_str=new))
    assert path.read_bytes() == "日本語 ".encode() + b"\xff 2 \xfe!\r\nend\n"


def test_what_is_inserted_after_a_last_line_without_an_end_is_a_line_of_its_own(
    path: Path,
) -> None:
    path.write_bytes(b"one\r\ntwo")
    check(file_editor("insert", path, insert_line=2, new_str="three"))
    assert path.read_bytes() == b"one\r\ntwo\r\nthree"


def test_a_new_file_is_as_it_was_sent(path: Path) -> None:
    """Also where a link leads to it."""
    path.symlink_to("new/target")
    check(file_editor("create", path, file_text="a\r\nb\n"))
    assert (path.parent / "new" / "target").read_bytes() == b"a\r\nb\n"
    assert path.is_symlink()


def test_a_patch_that_moves_a_file_keeps_what_it_is(path: Path) -> None:
    path.write_bytes(b"caf\xe9\r\ntwo\r\n")
    path.chmod(0o751)
    lines = (f"*** Update File: {path.name}", "*** Move to: moved", "@@", "-two", "+2")
    whole = "\r\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    check(ApplyPatchExecutor(str(path.parent))(ApplyPatchAction(patch=whole)))
    moved = path.with_name("moved")
    assert moved.read_bytes() == b"caf\xe9\r\n2\r\n"
    assert stat.S_IMODE(moved.stat().st_mode) == 0o751


LINES = st.lists(st.sampled_from([b"a", b"\xff", b"\xc3\xa9", b"\n", b"\r\n", b"\r", b"\0", b" "]))


@settings(max_examples=300, deadline=None)
@given(LINES, LINES, st.text("ab\n é", max_size=9))
def test_bytes_around_an_edit_stay(before: list[bytes], after: list[bytes], new: str) -> None:
    """Whatever they are: an edit in the middle changes the middle."""
    head, tail = b"".join(before) + b"\n", b"\n" + b"".join(after)
    file = Text(head + b"middle" + tail)
    assert file.encode(file.text) == head + b"middle" + tail
    try:
        data = file.encode(file.text.replace("middle", f"<{new}>"))
    except ValueError:
        return
    assert data.startswith(head + b"<")
    assert data.endswith(b">" + tail)
