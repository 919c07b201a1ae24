"""The end of a text grows in place on a terminal; elsewhere it is written when it has settled."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.cli.output.screen import Screen
from rookery.cli.output.transcript import view_of
from rookery.core.blocks.document import make_block
from rookery.render.lines import block as drawer
from rookery.render.lines import markdown

MOVES = re.compile(r"\x1b\[(\d*)([AJK])|(\r)|(\n)|([^\x1b\r\n]+)")


def seen(written: str) -> list[str]:
    """The rows that a tall terminal shows."""
    rows, at, column = [""], 0, 0
    for number, move, back, down, text in MOVES.findall(written):
        if move == "A":
            at -= int(number or 1)
            assert at >= 0
        elif move == "J":
            rows[at] = rows[at][:column]
            del rows[at + 1 :]
        elif move == "K":
            rows[at] = ""
        elif back:
            column = 0
        elif down:
            at, column = at + 1, 0
            rows += [""] * (at + 1 - len(rows))
        else:
            rows[at] = rows[at][:column] + text + rows[at][column + len(text) :]
            column += len(text)
    return rows


def screen(*, live: bool) -> tuple[Screen, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Screen(out, err, live=live), out, err


ROWS = st.lists(st.text("ab ", max_size=6), max_size=9)


@given(st.lists(ROWS, max_size=9))
def test_the_rows_that_were_shown_last_are_there(states: list[list[str]]) -> None:
    live, out, _ = screen(live=True)
    live.line("above")
    for rows in states:
        live.grow(rows)
    last = states[-1] if states else []
    assert live.settle() is bool(last)
    live.line("below")
    assert seen(out.getvalue()) == ["above", *last, "below", ""]


def test_rows_that_stay_are_not_written_again() -> None:
    live, out, _ = screen(live=True)
    live.grow(["one", "two", "thr"])
    before = len(out.getvalue())
    live.grow(["one", "two", "three"])
    assert out.getvalue()[before:] == "\r\x1b[Jthree"


def test_what_scrolled_away_is_left_alone() -> None:
    live, out, _ = screen(live=True)
    rows = [str(number) for number in range(60)]
    live.grow(rows)
    before = len(out.getvalue())
    live.grow(["other", *rows[1:]])
    assert "\x1b[22A" in out.getvalue()[before:], "a terminal of 24 lines"
    assert "other" not in out.getvalue()[before:]


def test_a_hint_stands_above_what_grows() -> None:
    live, out, err = screen(live=True)
    live.grow(["one", "two"])
    live.note("a hint")
    live.settle()
    assert err.getvalue() == "a hint\n"
    assert seen(out.getvalue()) == ["one", "two", ""]


def test_without_a_terminal_it_is_written_once() -> None:
    piped, out, _ = screen(live=False)
    piped.grow(["on"])
    piped.grow(["one", "two"])
    assert out.getvalue() == ""
    assert piped.settle()
    assert out.getvalue() == "one\ntwo\n"
    assert not piped.settle()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_prose_is_broken_between_words_without_a_parser_of_markdown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(markdown, "can_parse", lambda: False)
    text = "# Kept\n\nRookery kept all of it, and goes on.\n    code that is not prose at all\n"
    block = make_block("1.1", "answer", text=text)
    out = Terminal()
    view = view_of(Screen(out, io.StringIO(), live=True, width=21), "demo", "/w")
    lines = ["".join(piece for piece, _ in line) for line in drawer.rendered(block, [], view)]
    assert lines[:4] == ["# Kept", "", "Rookery kept all of", "it, and goes on."]
    assert "".join(lines[4:]) == "    code that is not prose at all"
    assert max(map(len, lines)) <= 20
