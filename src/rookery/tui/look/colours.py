"""A program's own colours, made legible in a theme."""

from functools import lru_cache

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI

from rookery.render import terminal
from rookery.tui.look.palette import Look

LEAST = 4.5
"""Below this contrast text is hard to read."""

STEPS = 10


@lru_cache(maxsize=1000)
def style_of(style: terminal.Style) -> Style:
    flags = dict.fromkeys(style.flags, True)
    return Style(color=_colour(style.colour), bgcolor=_colour(style.ground), **flags)  # type: ignore[arg-type]


def _colour(colour: terminal.Colour) -> Color | None:
    if isinstance(colour, tuple):
        return Color.from_rgb(*colour)
    return None if colour is None else Color.from_ansi(colour)


def luminance(colour: ColorTriplet) -> float:
    red, green, blue = (_linear(each / 255) for each in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """Return the contrast of two colours by the definition of WCAG: from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=1000)
def legible(style: Style, look: Look) -> Style:
    """Return the style with its colour moved towards the ink as far as needed. A style with a
    background of its own stays as it is."""
    colour = style.color
    if colour is None or colour.is_default or style.bgcolor is not None or style.reverse:
        return style
    palette = look.palette
    paper, ink = triplet(palette.paper), triplet(palette.ink)
    given = colour.get_truecolor(MONOKAI if palette.dark else DEFAULT_TERMINAL_THEME)
    mixed = (_between(given, ink, step) for step in range(STEPS + 1))
    chosen = next((each for each in mixed if contrast(each, paper) >= LEAST), ink)
    return style + Style.from_color(Color.from_triplet(chosen))


def _between(one: ColorTriplet, other: ColorTriplet, step: int) -> ColorTriplet:
    red, green, blue = (a + (b - a) * step // STEPS for a, b in zip(one, other, strict=True))
    return ColorTriplet(red, green, blue)


def triplet(colour: str) -> ColorTriplet:
    return Color.parse(colour).get_truecolor()
