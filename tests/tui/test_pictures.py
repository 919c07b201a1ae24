"""What a terminal says it can draw, what it is sent, and pictures that mean no good."""

import io
import struct
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from rich.cells import cell_len
from rich.color import ColorSystem
from textual.message import Message

from rookery.render.runs import clean
from rookery.tui.look.palette import look_of
from rookery.tui.pictures import drawing, kitty, sequences, sixel, terminal
from rookery.tui.pictures.terminal import Ability, ability, can_be_asked, fitted
from rookery.tui.system import driver
from rookery.tui.system.driver import Answered, Parser
from tests.export.sessions import png
from tests.tui.terminals import of_sixels

OK, LAST, SIXEL, CELL = "\x1b_Gi=31;OK\x1b\\", "\x1b[?62c", "\x1b[?62;4;22c", "\x1b[6;20;10t"


def named(name: str) -> str:
    return f"\x1bP>|{name}\x1b\\"


@pytest.mark.parametrize(
    ("answers", "environment", "can"),
    [
        ([named("kitty(0.41)"), OK, CELL, LAST], {}, Ability("kitty", True, (10, 20))),
        ([named("ghostty 1.2"), OK, LAST], {}, Ability("kitty", True)),
        ([named("Konsole 25"), OK, CELL, LAST], {}, Ability("kitty", False, (10, 20))),
        ([named("WezTerm 2026"), OK, CELL, SIXEL], {}, Ability("iterm2", False, (10, 20))),
        ([named("iTerm2 3.5"), LAST], {}, Ability("iterm2", False)),
        ([LAST], {"LC_TERMINAL": "iTerm2"}, Ability("iterm2", False)),
        ([named("VTE(78)"), LAST], {"LC_TERMINAL": "iTerm2"}, Ability()),
        ([named("XTerm(390)"), CELL, SIXEL], {}, Ability("sixel", False, (10, 20))),
        ([SIXEL], {}, Ability()),
        (["\x1b_Gi=31;ENOTSUP\x1b\\", LAST], {}, Ability()),
        ([LAST], {}, Ability()),
        ([], {}, Ability()),
    ],
)
def test_what_a_terminal_can_draw(
    answers: list[str], environment: dict[str, str], can: Ability
) -> None:
    assert ability(answers, environment) == can


def test_the_system_may_know_a_cells_size() -> None:
    assert ability([SIXEL], {}, (9, 18)) == Ability("sixel", False, (9, 18))


@pytest.mark.parametrize(
    ("environment", "can"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({}, False),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "xterm", "TMUX": "x"}, False),
        ({"TERM": "xterm", "ZELLIJ": "0"}, False),
    ],
)
def test_who_is_asked(environment: dict[str, str], can: bool) -> None:
    assert can_be_asked(environment) is can


SIZES = st.integers(1, 60_000)


@given(
    SIZES, SIZES, st.integers(1, 50), st.integers(1, 50), st.integers(1, 300), st.integers(1, 90)
)
def test_a_picture_fits(
    width: int, height: int, wide: int, high: int, columns: int, rows: int
) -> None:
    across, down = fitted(width, height, (wide, high), columns, rows)
    assert 1 <= across <= columns
    assert 1 <= down <= rows
    assert across * wide < width + wide
    assert down * high < height + high


# --- the answers ---------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parser, "asked", True)
    monkeypatch.setattr(Parser, "soon", True)


def keys_of(found: Iterable[Message]) -> list[str]:
    return [getattr(each, "key", "") for each in found if not isinstance(each, Answered)]


@given(st.lists(st.integers(1, 12)), st.booleans())
def test_answers_are_no_keys_however_they_come(cuts: list[int], typed: bool) -> None:
    """Also in the middle of what is typed."""
    text = named("kitty(0.41)") + OK + ("a\x1b[A" if typed else "") + CELL + LAST
    parser, found = Parser(), []
    while text:
        size = cuts.pop() if cuts else len(text)
        found += list(parser.feed(text[:size]))
        text = text[size:]
    answers = [each.text for each in found if isinstance(each, Answered)]
    assert answers == [named("kitty(0.41)"), OK, CELL, LAST]
    assert keys_of(found) == (["a", "up"] if typed else [])


def test_escape_is_a_key_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "KEY", 0.0)
    parser = Parser()
    assert list(parser.feed("\x1b")) == []
    assert list(parser.tick()) == [], "Textual waits, too"
    parser._timeout_time = 0.0
    assert keys_of(parser.tick()) == ["escape"]


def test_escape_is_a_key_at_once_when_no_answer_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parser, "soon", False)
    parser = Parser()
    assert list(parser.feed("\x1b")) == []
    parser._timeout_time = 0.0
    assert keys_of(parser.tick()) == ["escape"]
    assert keys_of(parser.feed(f"a{OK}b")) == ["a", "b"], "one may be late"


def test_an_answer_without_an_end_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Parser()
    assert keys_of(parser.feed("a\x1b_Gi=31;O")) == ["a"]
    monkeypatch.setattr(driver, "LATE", 0.0)
    assert list(parser.tick()) == []
    assert keys_of(parser.feed("b")) == ["b"]


# --- what is sent --------------------------------------------------------------------------------


def test_a_cell_of_a_picture_is_one_column() -> None:
    number = kitty.Number(0, "truecolor")
    for row in (0, 1, 11, kitty.MAX_SIDE - 1):
        assert cell_len(kitty.row_of(number, row, kitty.MAX_SIDE)) == kitty.MAX_SIDE
    assert len(set(kitty.MARKS)) == 128


@pytest.mark.parametrize("colours", ["256", "truecolor"])
def test_numbers_are_colours_that_no_terminal_changes(colours: str) -> None:
    system = {"256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}[colours]
    seen = set()
    for place in range(400):
        number = kitty.Number(place, colours)
        colour = look_of("rookery-dark").named[number.style].color
        assert colour is not None
        codes = colour.downgrade(system).get_ansi_codes()
        low = int(codes[2])
        if colours == "truecolor":
            low = int(codes[2]) << 16 | int(codes[3]) << 8 | int(codes[4])
        assert (codes[1], low) == ("5" if colours == "256" else "2", number.low)
        seen.add(number.whole)
    assert len(seen) == 400


def test_an_agents_text_is_no_picture() -> None:
    assert kitty.PICTURE not in clean(f"see {kitty.row_of(kitty.Number(3, '256'), 0, 4)}")


@given(st.binary(min_size=1, max_size=20_000), st.integers(0, 30))
def test_a_picture_is_sent_as_base64_alone(data: bytes, columns: int) -> None:
    for command in kitty.sent(7, data, columns, 3 if columns else 0):
        assert command.startswith("\x1b_G")
        assert command.endswith("\x1b\\")
        assert command[3:-2].isascii()
        assert command[3:-2].isprintable()
        assert len(command) < kitty.CHUNK + 80
    assert sequences.iterm2(data, 3, 3)[2:-1].isprintable()


def test_what_is_no_sixel_is_not_sent() -> None:
    assert sequences.sixels(b'"1;1;1;6#0~') == '\x1bP0;1;0q"1;1;1;6#0~\x1b\\'
    assert sequences.sixels(b"~\x1b\\\x1b]0;title\x07") == ""


@given(st.integers(1, 40), st.integers(1, 20), st.data())
def test_sixels_say_every_dot(width: int, height: int, data: st.DataObject) -> None:
    palette = [(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 0, 255)]
    size = width * height
    dots = bytes(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    text = sixel.encoded(dots, width, height, palette)
    image = of_sixels("0;1;0q" + text.decode())
    assert image.size == (width, height)
    assert [image.getpixel((at % width, at // width)) for at in range(size)] == [
        palette[each] for each in dots
    ]


# --- pictures that mean no good ------------------------------------------------------------------

BOX = (400, 200)


def huge(width: int, height: int) -> bytes:
    """A file of a few hundred bytes that says it has so many dots."""
    image = bytearray(png(4, 4))
    image[16:24] = struct.pack(">II", width, height)
    image[29:33] = struct.pack(">I", zlib.crc32(image[12:29]))
    return bytes(image)


@pytest.mark.parametrize("how", ["kitty", "iterm2", "sixel"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"\x1b]0;title\x07",
        b"\x89PNG\r\n\x1a\n",
        png(64, 64)[:60],
        huge(60_000, 60_000),
        huge(7_000, 7_000),
        b"GIF89a\x10\x00\x10\x00" + b"\x00" * 40,
        b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x10\x00\x10" + b"\x00" * 20,
        b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + b"\x01" * 20,
        png() + b"\0" * drawing.LARGEST,
    ],
)
def test_a_hostile_picture_is_not_drawn(data: bytes, how: str) -> None:
    assert drawing.drawn(data, how, BOX, "000000") is None


def test_a_picture_is_drawn_anew() -> None:
    """What stands in the file beside the picture does not reach the terminal."""
    data = png(900, 300) + b"\x1b]0;title\x07"
    found = drawing.drawn(data, "kitty", BOX, "000000")
    assert found is not None
    assert b"title" not in found
    assert Image.open(io.BytesIO(found)).size == (400, 133)


def test_sixels_stand_on_the_ground_of_the_window() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (12, 12), (255, 0, 0, 0)).save(out, "PNG")
    found = drawing.drawn(out.getvalue(), "sixel", BOX, "0000ff")
    assert found is not None
    assert of_sixels("0;1;0q" + found.decode()).getpixel((3, 3)) == (0, 0, 255)


def test_without_a_decoder_terminals_decode_what_they_can() -> None:
    gif = b"GIF89a" + b"\0" * 20
    assert drawing.as_it_is(png(), "image/png", "kitty") == png()
    assert drawing.as_it_is(gif, "image/gif", "kitty") is None
    assert drawing.as_it_is(gif, "image/gif", "iterm2") == gif
    assert drawing.as_it_is(png(), "image/png", "sixel") is None
    assert drawing.as_it_is(b"\0" * 5_000_000, "image/png", "iterm2") is None


def test_the_usual_cell_is_only_a_shape() -> None:
    assert terminal.USUAL[1] == 2 * terminal.USUAL[0]
