"""Tables and hints in narrow terminals: no line is wider than the screen, no word is broken."""

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.cli.output.safe import columns
from rookery.cli.output.table import GAP, Column, fitted
from rookery.cli.output.wrap import wrapped
from tests.cli.driving import made, play, rookery

SHAPE = (Column("A"), Column("B", least=5), Column("C", least=4, rank=2), Column("D", rank=1))


def taken(widths: list[int]) -> int:
    kept = [width for width in widths if width]
    return sum(kept) + GAP * (len(kept) - 1)


def test_what_fits_is_left_alone() -> None:
    natural = [4, 10, 10, 6]
    assert fitted(SHAPE, natural, taken(natural)) == natural


def test_the_widest_is_cut_first_then_the_highest_rank_is_left_out() -> None:
    natural = [4, 10, 10, 6]
    room = taken(natural)
    assert sorted(fitted(SHAPE, natural, room - 1)) == [4, 6, 9, 10]
    least = [4, 5, 4, 6]
    assert fitted(SHAPE, natural, taken(least)) == least
    assert fitted(SHAPE, natural, taken(least) - 1) == [4, 10, 0, 6]
    assert fitted(SHAPE, natural, 4 + GAP + 5) == [4, 5, 0, 0]


@given(st.lists(st.integers(1, 80), min_size=4, max_size=4), st.integers(11, 120))
def test_a_table_never_is_wider_than_its_room(natural: list[int], room: int) -> None:
    natural[0] = min(natural[0], 4)
    assert taken(fitted(SHAPE, natural, room)) <= room


WORDS = st.lists(st.text("abc", min_size=1, max_size=20), min_size=1, max_size=20)


@given(WORDS, st.integers(20, 60))
def test_hints_are_broken_between_words_alone(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width).split("\n")
    assert " ".join(lines).split() == words
    assert all(columns(line) <= width for line in lines)


def test_a_hint_keeps_its_margin_and_its_long_words() -> None:
    assert wrapped("! one two three", 9) == "! one two\n  three"
    assert wrapped("  a-path-that-is-long b", 10) == "  a-path-that-is-long\n  b"
    assert wrapped("short\n\nlines stay", 40) == "short\n\nlines stay"


def in_terminal(width: int, *arguments: str) -> list[str]:
    """The lines that a command writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, width))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "rookery", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    flags = fcntl.fcntl(ours, fcntl.F_GETFL)
    fcntl.fcntl(ours, fcntl.F_SETFL, flags & ~os.O_NONBLOCK)
    text = b""
    try:
        while data := os.read(ours, 65536):
            text += data
    except OSError:
        pass  # which is how Linux ends a terminal's output
    finally:
        os.close(ours)
    assert process.wait() == 0
    return text.decode().replace("\r\n", "\n").removesuffix("\n").split("\n")


@pytest.mark.parametrize("width", [40, 50, 60, 100])
def test_ps_fits_a_narrow_terminal(home: Path, width: int) -> None:
    session = made({"text": "hi"}, title="A rather long title that goes on and on and on")
    for arguments in (["ps"], []):
        lines = in_terminal(width, *arguments)
        assert all(columns(line) <= width for line in lines), lines
        assert any(session in line for line in lines)
    assert len(in_terminal(width, "ps")) == 2, "a row is a line"


def test_a_pipe_gets_every_column_unless_it_is_told_a_width(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made({"text": "hi"}, title="A rather long title that goes on and on")
    monkeypatch.delenv("COLUMNS", raising=False)
    assert str(Path.cwd()) in rookery("ps").out
    monkeypatch.setenv("COLUMNS", "60")
    shown = rookery("ps").out
    assert all(columns(line) <= 60 for line in shown.splitlines())
    assert json.loads(rookery("ps", "--json").out)["cwd"]


def test_notices_are_broken_between_words(home: Path) -> None:
    """One that is longer than the terminal is wide."""
    words = "The provider is down for maintenance until the early hours of the morning"
    session = made({"text": "hi"})
    rookery("prompt", "--wait", session, play({"error": words}))
    shown = in_terminal(50, "show", session, "--all")
    lines = [line for line in shown if not line.startswith("▎")]  # but for the prompt itself
    assert all(columns(line) <= 50 for line in lines), lines
    assert words in " ".join(" ".join(lines).split())
