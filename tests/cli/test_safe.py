"""No text of an agent's may reach the terminal as a command to it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.cli.output import safe

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs", "Cc"]))


@given(ANY_TEXT)
def test_clean_text_holds_no_control_and_can_be_encoded(text: str) -> None:
    found = safe.clean(text)
    assert not CONTROLS.search(found)
    found.encode()


@given(ANY_TEXT, ANY_TEXT)
def test_cleaning_in_pieces_is_cleaning_at_once(one: str, other: str) -> None:
    assert safe.clean(one) + safe.clean(other) == safe.clean(one + other)


@given(ANY_TEXT | st.from_regex(r"(\x1b[\[\]PX^_]?[0-9;:?]*[a-zA-Z\x07\\]?.?){1,8}"))
def test_output_keeps_colours_alone(text: str) -> None:
    for line in safe.clean_output(text, colour=True):
        bare = re.sub(r"\x1b\[[0-9;:]*m", "", line)
        assert not CONTROLS.search(bare)
        if "\x1b" in line:
            assert line.endswith(safe.RESET)
    assert not any(CONTROLS.search(line) for line in safe.clean_output(text, colour=False))


def test_what_was_there_is_shown_not_left_out() -> None:
    assert safe.clean("a\x1b[2Jb\x07\x9b\u202ec") == "a␛[2Jb␇<9B><202E>c"
    assert safe.clean("tab\tline\r\nnext") == "tab\tline\nnext"
    assert safe.clean("\ud83d alone") == "\ufffd alone"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("10 %\r50 %\r100 %\ndone", ["100 %", "done"]),
        ("\x1b]0;title\x07hi", ["hi"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        ("\x1b[2J\x1b[1;1Hhi\x1b[K", ["hi"]),
        ("\x1b[31mred\x1b[0m", ["red"]),
        ("a\bb\r\nc", ["ab", "c"]),
    ],
)
def test_output_is_what_a_terminal_would_show_at_the_end(text: str, lines: list[str]) -> None:
    assert safe.clean_output(text, colour=False) == lines


def test_colours_of_output_stay_where_they_can_be_seen() -> None:
    assert safe.clean_output("\x1b[31mred", colour=True) == ["\x1b[31mred\x1b[0m"]


def test_wide_text_is_measured_in_columns() -> None:
    assert safe.columns("日本") == 4
    assert safe.columns("e\u0301") == 1
    assert safe.cut("日本語", 5) == "日本…"
    assert safe.cut("short", 5) == "short"
    assert safe.pad("日", 4) == "日  "
