"""The palettes as Textual's themes, and the screen without colours."""

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from rookery.tui.look.palette import PALETTES, Palette

DEFAULT = "rookery-dark"


def themes() -> list[Theme]:
    return [_theme(palette) for palette in PALETTES.values()]


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
    """Our own names for the style sheet, and Textual's where ours say them better."""
    return {
        "ink-2": palette.ink_2,
        "ink-3": palette.ink_3,
        "line": palette.line,
        "card": palette.card,
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
    """For NO_COLOR: weights and signs stay, every colour goes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            Segment(text, _bare(style) if style else style, control)
            for text, style, control in segments
        ]


def _bare(style: Style) -> Style:
    return style.without_color if style.color or style.bgcolor else style
