"""Prose in a terminal is broken between words while it streams."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.cli.output.safe import columns
from rookery.cli.output.wrap import Wrap
from rookery.cli.output.wrap import wrapped as folded

PROSE = "Rookery kept all of it, and a turn goes on when you close this window."


def wrapped(text: str, width: int = 30, pieces: int = 0) -> str:
    wrap = Wrap(width)
    parts = [text[at : at + pieces] for at in range(0, len(text), pieces)] if pieces else [text]
    return "".join(wrap.feed(part) for part in parts) + wrap.end()


def test_prose_is_broken_between_words() -> None:
    assert wrapped(PROSE) == textwrap.fill(PROSE, 30)


def test_the_lines_of_a_list_hang_under_its_words() -> None:
    assert wrapped("- `rookery ps` lists your sessions, all") == (
        "- `rookery ps` lists your\n  sessions, all"
    )


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + PROSE + "\n```",
        "    " + PROSE,
        "| a | b | c | d | e | f | g | h | i | j |",
        "https://example.org/" + "x" * 60,
    ],
)
def test_code_tables_and_long_words_keep_their_lines(text: str) -> None:
    assert wrapped(text) == text


def test_prose_after_code_is_broken_again() -> None:
    assert wrapped("```\nx\n```\n" + PROSE) == "```\nx\n```\n" + textwrap.fill(PROSE, 30)


TEXT = st.text(st.sampled_from("ab日 \n`-|1."), max_size=200)


@given(TEXT, st.integers(1, 9), st.integers(10, 40))
def test_however_it_comes_in_pieces_it_is_the_same_and_loses_no_letter(
    text: str, pieces: int, width: int
) -> None:
    whole = wrapped(text, width)
    assert wrapped(text, width, pieces) == whole
    assert "".join(whole.split()) == "".join(text.split())


@given(st.lists(st.text("abc日", min_size=1, max_size=9), max_size=40), st.integers(20, 60))
def test_no_line_of_prose_is_wider_than_it_may_be(words: list[str], width: int) -> None:
    assert all(columns(line) <= width for line in wrapped(" ".join(words), width).split("\n"))


def test_a_word_that_stops_coming_is_shown_and_goes_on_behind_itself() -> None:
    wrap = Wrap(12)
    assert wrap.feed("one two bir") == "one two"
    assert wrap.hurry() == " bir"
    assert wrap.hurry() == ""
    assert wrap.feed("ds sing") == "ds", "a word that has begun is not torn apart"
    assert wrap.end() == "\nsing"


@pytest.mark.parametrize("width", range(20, 60))
def test_a_command_at_the_end_of_a_note_can_be_copied(width: int) -> None:
    note = "The agent has no memory of earlier turns. For a recap: rookery recap 647bc6ef0c"
    lines = folded(note, width).split("\n")
    assert lines[-1].endswith("rookery recap 647bc6ef0c")
    assert " ".join(lines) == note
