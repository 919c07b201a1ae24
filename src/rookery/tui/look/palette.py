"""Colours by their meaning, and the styles made of them."""

from functools import cached_property, lru_cache
from typing import NamedTuple

from rich.style import Style

from rookery.render.signs import SIGNS
from rookery.tui import look


class Palette(NamedTuple):
    """The colours of a theme. `chosen` is the background of the current row, `field` of inputs,
    `code` of code; `added` and `removed` are those of a line and of a changed word."""

    name: str
    dark: bool
    paper: str
    ink: str
    ink_2: str
    ink_3: str
    line: str
    card: str
    chosen: str
    field: str
    code: str
    accent: str
    needs: str
    failed: str
    done: str
    added: tuple[str, str]
    removed: tuple[str, str]
    keyword: str
    string: str
    number: str


LIGHT = Palette(
    *("rookery-light", False),
    *("#FBFAF7", "#1C1F23", "#5B6168", "#8A9097", "#E4E1DA", "#FFFFFF"),
    *("#E4E1DA", "#F1EEE8", "#F6F4EF"),
    *("#0B7A85", "#9E5E00", "#B3261E", "#2F7D46"),
    *(("#DAFBE1", "#A6EBB8"), ("#FFEFEB", "#FFC9C1")),
    *("#7A3E9D", "#2F6B3A", "#9A5A00"),
)
DARK = Palette(
    *("rookery-dark", True),
    *("#14171A", "#E6E3DC", "#A3A8AD", "#6D737A", "#2A2F34", "#1A1E22"),
    *("#2A2F34", "#0E1113", "#0E1113"),
    *("#4FC3CB", "#F0B350", "#F28B82", "#85C88F"),
    *(("#1B3122", "#275235"), ("#3B1D1E", "#5E2A2B")),
    *("#C8A6E6", "#A9CF9B", "#E8B97A"),
)
CONTRAST = Palette(
    *("rookery-contrast", True),
    *("#000000", "#FFFFFF", "#E0E0E0", "#BEBEBE", "#8C8C8C", "#000000"),
    *("#454545", "#333333", "#1C1C1C"),
    *("#5FF3FF", "#FFD60A", "#FF8A80", "#7CFF8E"),
    *(("#00300C", "#006B1C"), ("#3C0000", "#8A0000")),
    *("#E5B8FF", "#B7FFB0", "#FFD08A"),
)
PALETTES = {palette.name: palette for palette in (DARK, LIGHT, CONTRAST)}


class Grounds(NamedTuple):
    """The backgrounds of lines that a diff adds or removes, and of the changed words in them."""

    added: Style
    added_word: Style
    removed: Style
    removed_word: Style


def _grounds(palette: Palette, colours: str) -> Grounds:
    """Return the backgrounds of a diff. A terminal with few colours takes the nearest one, and for
    two pale or two dark backgrounds that is the same: it gets strong ones of its own, with an ink
    that is legible on them."""
    if colours not in ("256", "standard"):
        return Grounds(*(Style(bgcolor=each) for each in (*palette.added, *palette.removed)))
    if colours == "256":
        grounds = ("#005F00", "#008700", "#5F0000", "#870000")
        if not palette.dark:
            grounds = ("#D7FFD7", "#87FF87", "#FFD7D7", "#FFAFAF")
        line, word = Style(color=palette.ink), Style(color="#FFFFFF" if palette.dark else "#000000")
        both = zip((line, word, line, word), grounds, strict=True)
        return Grounds(*(ink + Style(bgcolor=ground) for ink, ground in both))
    added = Style(color="#000000", bgcolor="#00AA00")
    removed = Style(color="#FFFFFF", bgcolor="#AA0000")
    strong = Style(bold=True, underline=True)
    return Grounds(added, added + strong, removed, removed + strong)


class Look:
    """The styles of one palette; there is one object for each. `colours`: how many the terminal
    has, in Rich's terms."""

    def __init__(self, palette: Palette, colours: str = "") -> None:
        self.palette = palette
        self.plain = Style()
        self.bold = Style(bold=True)
        self.italic = Style(italic=True)
        self.strike = Style(strike=True)
        self.ink = Style(color=palette.ink)
        self.soft = Style(color=palette.ink_2)
        self.faint = Style(color=palette.ink_3)
        self.line = Style(color=palette.line)
        self.accent = Style(color=palette.accent)
        self.needs = Style(color=palette.needs)
        self.failed = Style(color=palette.failed)
        self.done = Style(color=palette.done)
        self.ground = Style(bgcolor=palette.code)
        """Of code."""
        self.heading = Style(color=palette.ink, bold=True)
        self.code = Style(color=palette.accent)
        self.link = Style(color=palette.accent, underline=True)
        self.key = Style(color=palette.accent, bold=True)
        self.grounds = _grounds(palette, colours)

    @cached_property
    def states(self) -> dict[str, tuple[str, Style]]:
        """A sign and a style for each state, and for each kind of notice."""
        styles = {"running": self.accent, "done": self.done, "failed": self.failed}
        styles |= {"pending": self.faint, "asleep": self.faint, "needs-you": self.needs}
        styles |= {
            "warn": self.needs,
            "limited": self.needs,
            "held": self.needs,
            "hung": self.failed,
            "to-read": self.accent,
            "not-begun": self.faint,
            "not-loaded": self.faint,
            "note": self.accent,
            "damaged": self.failed,
        }
        return {name: (sign, styles.get(name, self.soft)) for name, (sign, _) in SIGNS.items()}

    @cached_property
    def syntax(self) -> dict[str, Style]:
        """The styles of code, by the kind of token."""
        palette, names = self.palette, ("Builtin", "Function", "Class", "Attribute")
        styles = {"": self.plain, "Comment": Style(color=palette.ink_2, italic=True)}
        styles |= dict.fromkeys(
            ("Keyword", "Operator.Word", "Name.Tag"), Style(color=palette.keyword)
        )
        styles |= dict.fromkeys((f"Name.{name}" for name in names), self.accent)
        styles |= dict.fromkeys(("Name.Decorator", "Literal.Number"), Style(color=palette.number))
        styles |= {"Literal.String": Style(color=palette.string), "Generic.Heading": self.heading}
        styles |= {"Generic.Inserted": self.done, "Generic.Deleted": self.failed}
        return {kind: self.ink + style for kind, style in styles.items()}

    @cached_property
    def named(self) -> dict[str, Style]:
        """The styles by the names that blocks are drawn with."""
        return look.names.Named(self)


@lru_cache(maxsize=8)
def look_of(name: str, colours: str = "") -> Look:
    """Return the look of a theme. An unknown theme gets the dark look."""
    return Look(PALETTES.get(name, DARK), colours)
