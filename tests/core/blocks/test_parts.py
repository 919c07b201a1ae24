"""Parts: a closed set of looks, each small enough for an op, with what was cut counted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.blocks.parts import (
    CONTEXT,
    ROOM,
    diff,
    fit,
    from_block,
    from_tool_content,
    outline,
)
from rookery.core.json.events import dumps
from tests.core.hostile import foreign_json
from tests.core.making import text

LOOKS = {"markdown", "diff", "terminal", "checklist", "image", "link", "form", "json"}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (text("t"), {"type": "markdown", "text": "t"}),
        (
            {"type": "image", "mimeType": "image/png", "data": "AAAAAAAA"},
            {"type": "image", "mime": "image/png", "bytes": 6},
        ),
        ({"type": "audio", "data": "AAAA"}, {"type": "image", "mime": "audio/*", "bytes": 3}),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a", "title": "A"},
            {"type": "link", "uri": "file:///a", "name": "A"},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
            {"type": "markdown", "text": "x", "name": "file:///a"},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA"}},
            {"type": "link", "uri": "file:///a", "name": "file:///a"},
        ),
        ({"type": "text", "text": 7}, {"type": "json", "value": {"type": "text", "text": 7}}),
        ({"type": "odd"}, {"type": "json", "value": {"type": "odd"}}),
        (None, {"type": "json", "value": None}),
    ],
)
def test_each_content_block_has_a_look(block: Any, part: Any) -> None:
    assert from_block(block) == part
    assert from_tool_content([{"type": "content", "content": block}]) == [part]


def test_the_other_contents_of_a_tool_call() -> None:
    assert from_tool_content(
        [
            {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"},
            {"type": "terminal", "terminalId": "t"},
            {"type": "diff", "path": "/a", "newText": None},
        ]
    ) == [
        {"type": "diff", "path": "/a", "old": "x\n", "new": "y\n", "line": 1},
        {"type": "terminal", "id": "t", "text": ""},
        {"type": "json", "value": {"type": "diff", "path": "/a", "newText": None}},
    ]


@pytest.mark.parametrize("old", [None, ""])
def test_a_new_file_is_told_from_an_empty_one(old: str | None) -> None:
    part = diff("/a", old, "x\ny\n")
    assert (part["old"], part["new"], part["line"]) == (old, "x\ny\n", 1)


def test_a_whole_file_is_trimmed_to_what_changed() -> None:
    before = [f"line {n}\n" for n in range(1000)]
    after = [*before[:500], "new\n", *before[501:]]
    part = diff("/a", "".join(before), "".join(after))
    assert part["line"] == 500 - CONTEXT + 1
    assert part["old"].splitlines() == [f"line {n}" for n in range(497, 504)]
    assert part["new"].splitlines()[CONTEXT] == "new"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n", "a\n"),
        ("a\n", ""),
        ("a", "a\n"),
        ("a\nb\n", "a\nb\nc\n"),
        ("b\n", "a\nb\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("x\nx\nx\n", "x\nx\n"),
    ],
)
def test_edges_of_a_file(old: str, new: str) -> None:
    check_diff(old, new)


lines = st.lists(st.sampled_from(["a\n", "b\n", "c", "\r\n", "\x0b", ""]), max_size=20).map("".join)


@given(lines, lines)
def test_a_trimmed_diff_makes_the_new_text_of_the_old(old: str, new: str) -> None:
    check_diff(old, new)


def check_diff(old: str, new: str) -> None:
    part = diff("/a", old, new)
    rows = old.splitlines(keepends=True)
    start = len("".join(rows[: part["line"] - 1]))
    assert old[start:].startswith(part["old"])
    assert old[:start] + part["new"] + old[start + len(part["old"]) :] == new


# --- fitting ---


def test_what_fits_is_left_alone() -> None:
    parts = [{"type": "markdown", "text": "x" * 30_000}, {"type": "link", "uri": "u", "name": "n"}]
    assert fit(parts) == parts


@pytest.mark.parametrize("letter", ["x", "é", "🪶", "\ud800", '"', "\0"])
def test_a_long_text_is_cut_to_the_room_and_says_by_how_much(letter: str) -> None:
    [part] = fit([{"type": "markdown", "text": letter * 100_000}])
    assert part["text"] == letter * len(part["text"])
    assert part["cut"] == 100_000 - len(part["text"])
    assert ROOM * 0.9 < len(dumps(part)) <= ROOM


def test_parts_beyond_the_room_are_counted() -> None:
    parts = fit([{"type": "markdown", "text": "x" * 10_000}] * 10)
    assert len(dumps(parts)) < ROOM + 1000
    assert parts[-1]["cut"] > 0
    many = fit([{"type": "image", "mime": "m" * 100, "bytes": 1}] * 1000)
    assert many[-1] == {
        "type": "markdown",
        "text": f"… {1001 - len(many)} more",
        "cut": 1001 - len(many),
    }


def test_a_large_diff_keeps_both_sides() -> None:
    part = from_tool_content(
        [{"type": "diff", "path": "/a", "oldText": "a" * 90_000, "newText": "b" * 90_000}]
    )[0]
    assert len(part["old"]) > 5_000
    assert len(part["new"]) > 5_000
    assert part["path"] == "/a"


@given(st.lists(foreign_json, max_size=5), st.integers(0, 200))
def test_any_content_becomes_parts_that_fit(content: list[Any], size: int) -> None:
    large = [{"type": "content", "content": [each] * size} for each in content]
    for parts in (from_tool_content(content), from_tool_content(large)):
        assert {part["type"] for part in parts} <= LOOKS
        assert len(dumps(parts)) <= ROOM + 1000


@given(foreign_json, st.integers(0, 200))
def test_an_outline_is_small_of_the_same_type_and_stays_as_it_is(value: Any, size: int) -> None:
    for each in (value, [value] * size, {str(n): value for n in range(size)}):
        short = outline(each)
        assert len(dumps(short)) <= ROOM
        assert type(short) is type(each)
        assert dumps(outline(short)) == dumps(short)
