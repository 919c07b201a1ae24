"""Every colour of text against every ground that it stands on, by WCAG's number."""

import itertools

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from rookery.render import terminal
from rookery.tui.look.colours import contrast, legible, style_of, triplet
from rookery.tui.look.palette import DARK, PALETTES, Look, Palette
from rookery.tui.look.themes import Colourless

TEXT, FAINT = 4.5, 3.0
STATES = ("accent", "needs", "failed", "done")
CODE = ("ink", "ink_2", "accent", "keyword", "string", "number")
STANDS_ON: dict[str, tuple[str, ...]] = {
    "paper": ("ink", "ink_2", *STATES, "keyword", "string", "number"),
    "card": ("ink", "ink_2", *STATES),
    "chosen": ("ink", "ink_2"),
    "field": ("ink", "ink_2"),
    "code": ("ink", "ink_2", "accent", "done", "failed", "keyword", "string", "number"),
    "added": CODE,
    "removed": CODE,
    "added word": ("ink",),
    "removed word": ("ink",),
}
"""Which text is painted on which ground."""

MARKS = {"chosen": ("done", "failed", "ink_2")}
"""Signs on a chosen row: a mark needs less than a word."""


def ground(palette: Palette, name: str) -> ColorTriplet:
    grounds = {"added": palette.added[0], "added word": palette.added[1]}
    grounds |= {"removed": palette.removed[0], "removed word": palette.removed[1]}
    return triplet(grounds.get(name) or getattr(palette, name))


def test_the_number_is_wcags() -> None:
    black, white, grey = (ColorTriplet(n, n, n) for n in (0, 255, 0x77))
    assert contrast(black, white) == contrast(white, black) == pytest.approx(21)
    assert contrast(white, white) == 1
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.005)  # just not enough


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda each: each.name)
@pytest.mark.parametrize("name", STANDS_ON)
def test_text_is_legible_on_its_background(palette: Palette, name: str) -> None:
    under = ground(palette, name)
    found = {
        ink: round(contrast(triplet(getattr(palette, ink)), under), 2) for ink in STANDS_ON[name]
    }
    assert not {ink: number for ink, number in found.items() if number < TEXT}


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("colours", "system"), [("256", ColorSystem.EIGHT_BIT), ("standard", ColorSystem.STANDARD)]
)
def test_changed_lines_stand_out_in_a_terminal_with_few_colours(
    palette: Palette, colours: str, system: ColorSystem
) -> None:
    def on_screen(colour: str | RichColor) -> ColorTriplet:
        given = RichColor.parse(colour) if isinstance(colour, str) else colour
        return given.downgrade(system).get_truecolor()

    grounds = Look(palette, colours).grounds
    seen = [on_screen(style.bgcolor) for style in grounds if style.bgcolor]
    assert len({on_screen(palette.paper), seen[0], seen[2]}) == 3
    for style, under in zip(grounds, seen, strict=True):
        assert style.color
        least = TEXT if colours == "256" else FAINT  # the 16 are as the terminal has them
        assert contrast(on_screen(style.color), under) >= least


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda each: each.name)
def test_faint_words_and_marks_are_visible(palette: Palette) -> None:
    pairs = [("ink_3", "paper"), ("ink_3", "card")]
    pairs += [(mark, name) for name, marks in MARKS.items() for mark in marks]
    for ink, name in pairs:
        number = contrast(triplet(getattr(palette, ink)), ground(palette, name))
        assert number >= FAINT, f"{ink} on {name}: {number:.2f}"


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda each: each.name)
def test_program_output_is_legible(palette: Palette) -> None:
    """The 16 colours, those of the cube, and any other: also white on light, black on dark."""
    look, paper = Look(palette), triplet(palette.paper)
    codes = [*range(30, 38), *range(90, 98), *(f"38;5;{n}" for n in range(256))]
    steps = itertools.product((0, 128, 255), repeat=3)
    codes += [f"38;2;{red};{green};{blue}" for red, green, blue in steps]
    for code in codes:
        style = legible(style_of(terminal.restyled(terminal.PLAIN, str(code))), look)
        assert style.color is not None
        assert contrast(style.color.get_truecolor(), paper) >= TEXT, code


def test_legible_colours_and_those_with_a_background_are_unchanged() -> None:
    look = Look(DARK)
    for code in ("38;2;200;220;255", "41;97", "7", "1"):
        style = style_of(terminal.restyled(terminal.PLAIN, code))
        assert legible(style, look).color == style.color
        assert legible(style, look).bgcolor == style.bgcolor


def test_without_colours_cursor_and_chosen_row_are_marked() -> None:
    paper = Color.parse(DARK.paper)

    def seen(on: str) -> Style | None:
        given = Segment("x", Style(color=DARK.ink, bgcolor=on, bold=True))
        return Colourless().apply([given], paper)[0].style

    assert seen(DARK.ink) == Style(bold=True, reverse=True)
    assert seen(DARK.chosen) == Style(bold=True, underline=True)
    assert seen(DARK.card) == seen(DARK.paper) == Style(bold=True)
