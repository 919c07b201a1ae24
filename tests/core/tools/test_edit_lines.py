"""At which line of its file a change begins: found in the file, stated, or unknown."""

from typing import Any

import pytest

from rookery.core.blocks import asks, parts
from rookery.core.tools.edit_lines import EditLines, find_line
from rookery.render.diff import rows_of
from tests.core.making import Json, asked, news, only, play, prompt, running, update

FILE = "".join(f"line {number}\n" for number in range(1, 41))
OLD, NEW = "line 20\nline 21", "line 20\nanother 21"


def edit(old: str | None = OLD, new: str = NEW, **more: Any) -> Json:
    diff = {"type": "diff", "path": "/w/a.txt", "oldText": old, "newText": new}
    return {"toolCallId": "e", "kind": "edit", "title": "Edit", "content": [diff], **more}


def numbers(part: Json) -> list[int | None]:
    return [row.number for row in rows_of(part)]


@pytest.mark.parametrize(
    ("text", "old", "new", "done", "line"),
    [
        (FILE, OLD, NEW, False, 20),
        (FILE.replace(OLD, NEW), OLD, NEW, True, 20),
        (FILE.replace("\n", "\r\n"), OLD, NEW, False, 20),
        ("x\ny\nx\n", "x", "z", False, 1),  # pending: an edit takes the first one
        ("z\ny\nz\n", "x", "z", True, None),  # done: which of them was it?
        ("x\na\nz\nb\n", "x", "z", True, 3),  # what is left of the old text is elsewhere
        (FILE, FILE, "other", False, 1),
        (FILE, "gone", "", True, None),
    ],
)
def test_a_change_is_found_in_its_file(
    text: str, old: str, new: str, done: bool, line: int | None
) -> None:
    assert find_line(text, old, new, done=done) == line


def test_what_was_found_before_the_edit_holds_after_it() -> None:
    texts = ["b\nx\nb\n", "b\nb\nb\n"]
    lines = EditLines(lambda _path: texts[0])
    begun = lines.note(edit("x", "b"))
    texts.pop(0)
    over = lines.note(edit("x", "b", status="completed"))
    assert begun["_meta"] == over["_meta"] == {"rookery": {"lines": [2]}}


def test_a_call_without_a_change_and_one_of_an_unknown_file_stay_as_they_came() -> None:
    lines = EditLines(lambda _path: None)
    for call in (edit(), edit(None), {"toolCallId": "r", "title": "Read"}):
        assert lines.note(call) is call
    given = {"toolCallId": "e", "rawInput": {"path": "a", "old_str": OLD, "new_str": NEW}}
    noted = EditLines(lambda _path: FILE).note({**given, "_meta": {"rookery": {"why": "x"}}})
    assert noted["_meta"] == {"rookery": {"why": "x", "lines": [20]}}


def test_cards_and_asks_number_the_lines_of_the_file() -> None:
    noted = EditLines(lambda _path: FILE).note(edit())
    card = only(play(prompt(), running(), update("tool_call", **noted)), "tool")
    assert numbers(card["parts"][0]) == [20, 21, 21]
    document = play(prompt(), running(), asked(toolCall=noted, options=[]))
    (piece,) = [each.part for each in asks.items(only(document, "ask")) if each.part]
    assert numbers(piece) == [20, 21, 21]
    assert numbers(only(document, "tool")["proposed"][0]) == [20, 21, 21]


def test_a_location_tells_the_line_where_nothing_else_does() -> None:
    place = [{"path": "/w/a.txt", "line": 20}]
    later = play(prompt(), running(), update("tool_call", **edit(locations=place)))
    assert numbers(only(later, "tool")["parts"][0]) == [20, 21, 21]


def test_a_piece_of_a_file_has_no_numbers_where_nobody_knows_its_place() -> None:
    document = play(prompt(), running(), update("tool_call", **edit()), news("e"))
    assert numbers(only(document, "tool")["parts"][0]) == [None, None, None]
    (whole,) = parts.from_tool_content(edit("a\nb\n", "a\nc\n")["content"])
    assert numbers(whole) == [1, 2, 2]


PATCH = """\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -10,3 +10,4 @@ def main():
 one
-two
+two!
+more
 three
@@ -40 +41 @@
-last
+end
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+v2
"""


def test_a_git_patch_is_a_diff_with_the_lines_of_the_file() -> None:
    content = [{"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": PATCH}}]
    first, second, third = parts.from_tool_content(content)
    assert [(row.sign, row.old, row.new) for row in rows_of(first)] == [
        (" ", 10, 10),
        ("-", 11, None),
        ("+", None, 11),
        ("+", None, 12),
        (" ", 12, 13),
    ]
    assert [(row.sign, row.number) for row in rows_of(second)] == [("-", 40), ("+", 41)]
    assert (third["path"], third["old"], third["new"]) == ("new.txt", None, "v2\n")
    (raw,) = parts.from_tool_content([{"type": "diff", "patch": {"text": "Binary files differ"}}])
    assert raw["type"] == "json"
