"""The palettes as Textual themes, and a screen without colours."""

from functools import lru_cache
from typing import Any

from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from rookery.tui import look
from rookery.tui.look.palette import PALETTES, Look, Palette, look_of

STRONG, WEAK = 3.0, 1.2
"""The contrast to the paper from which on a ground stands out."""

TURNED, UNDERLINED = Style(reverse=True), Style(underline=True)


def themes() -> list[Theme]:
    return [_theme(palette) for palette in PALETTES.values()]


def look_for(app: App[Any]) -> Look:
    """Return the look of the app's theme, with as many colours as its terminal has."""
    colours = "" if app.is_headless else app.console.color_system
    return look_of(app.theme, colours or "")


def _theme(palette: Palette) -> Theme:
    return Theme(
        name=palette.name,
        primary=palette.accent,
        secondary=palette.ink_2,
        accent=palette.accent,
        warning=palette.needs,
        error=palette.failed,
        success=palette.done,
        foreground=palette.ink,
        background=palette.paper,
        surface=palette.card,
        panel=palette.card,
        dark=palette.dark,
        text_alpha=1.0,
        variables=variables(palette),
    )


def variables(palette: Palette) -> dict[str, str]:
    return {
        "ink-2": palette.ink_2,
        "ink-3": palette.ink_3,
        "line": palette.line,
        "card": palette.card,
        "chosen": palette.chosen,
        "field": palette.field,
        "needs": palette.needs,
        "border": palette.accent,
        "border-blurred": palette.line,
        "scrollbar": palette.line,
        "scrollbar-hover": palette.ink_3,
        "scrollbar-active": palette.accent,
        "scrollbar-background": palette.paper,
        "scrollbar-background-hover": palette.paper,
        "scrollbar-background-active": palette.paper,
        "footer-key-foreground": palette.accent,
    }


class Colourless(LineFilter):
    """A filter for NO_COLOR. A background that stands out becomes reverse (a cursor) or an
    underline (a chosen row, a changed word)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        paper = ColorTriplet(*background.rgb)
        return [
            Segment(text, _bare(style, paper) if style else style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=1000)
def _bare(style: Style, paper: ColorTriplet) -> Style:
    if not style.color and not style.bgcolor:
        return style
    ground = style.bgcolor.triplet if style.bgcolor else None
    bare = style.without_color
    stands_out = look.colours.contrast(ground, paper) if ground else 1.0
    if stands_out >= STRONG:
        return bare + TURNED
    return bare + UNDERLINED if stands_out >= WEAK else bare
