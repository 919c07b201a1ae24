"""Colours and signs of what is printed: a colour never comes without a mark or a word."""

from functools import lru_cache

from rookery.render.runs import Line
from rookery.render.signs import SIGNS as STATES

SIGNS = STATES | {
    "here": ("▸", ">"),
    "edge": ("│", "|"),
    "dot": ("·", "-"),
    "minus": ("−", "-"),
    "more": ("…", "..."),
}
"""A sign, and what replaces it where the encoding lacks it."""

PLAIN = str.maketrans(
    {sign: plain for sign, plain in SIGNS.values() if not sign.isascii()}
    | {"▎": "|", "┃": "|", "─": "-", "┼": "+", "∴": "~", "↳": "->", "↗": ">", "⋯": "..."}
    | {"▣": "#", "▢": "-", "☑": "[x]", "☐": "[ ]", "•": "*", "◦": "-", "▪": "-", "▾": "v"}
)
"""What replaces the signs of blocks."""

COLOURS = {
    "done": "32",
    "failed": "31",
    "damaged": "31",
    "running": "36",
    "needs-you": "33",
    "needs": "33",
    "limited": "33",
    "held": "33",
    "hung": "31",
    "stopped": "33",
    "warn": "33",
    "note": "36",
    "accent": "36",
    "faint": "2",
    "line": "2",
    "strong": "1",
    "heading": "1",
    "bold": "1",
    "italic": "3",
    "underline": "4",
    "strike": "9",
    "code": "36",
    "link": "4",
    "added": "32",
    "added-word": "1;32",
    "removed": "31",
    "removed-word": "1;31",
    "token=Comment": "2",
    "token=Keyword": "35",
    "token=Operator.Word": "35",
    "token=Name.Tag": "35",
    "token=Literal.String": "32",
    "token=Literal.Number": "33",
    "token=Name.Decorator": "33",
    "token=Name.Builtin": "36",
    "token=Name.Function": "36",
    "token=Name.Class": "36",
    "token=Name.Attribute": "36",
    "token=Generic.Heading": "1",
    "token=Generic.Inserted": "32",
    "token=Generic.Deleted": "31",
}
"""The codes for the names of styles: those that every terminal shows legibly on its own ground."""


@lru_cache(maxsize=1000)
def _codes(names: str) -> str:
    return ";".join(filter(None, (COLOURS.get(name) or _own(name) for name in names.split())))


def _own(name: str) -> str:
    """Return the codes of a program's own style."""
    return name.removeprefix("sgr=") if name.startswith("sgr=") else ""


class Paint:
    """Paints text. `colour`: use escape sequences; `signs`: the encoding has our signs."""

    __slots__ = ("colour", "signs")

    def __init__(self, *, colour: bool, signs: bool = True) -> None:
        self.colour = colour
        self.signs = signs

    def in_(self, names: str, text: str) -> str:
        codes = _codes(names) if self.colour and text else ""
        return f"\x1b[{codes}m{text}\x1b[0m" if codes else text

    def line(self, runs: Line) -> str:
        """Return a line of a block, without blanks at its end."""
        joined: Line = []
        for text, names in runs:
            if joined and _codes(joined[-1][1]) == _codes(names):
                joined[-1] = (joined[-1][0] + text, names)
            else:
                joined.append((text, names))
        while joined and not joined[-1][0].rstrip():
            joined.pop()
        if joined:
            joined[-1] = (joined[-1][0].rstrip(), joined[-1][1])
        line = "".join(self.in_(names, text) for text, names in joined)
        return line if self.signs else line.translate(PLAIN)

    def faint(self, text: str) -> str:
        return self.in_("faint", text)

    def sign(self, name: str) -> str:
        return SIGNS[name][0 if self.signs else 1]

    def mark(self, name: str) -> str:
        return self.in_(name, self.sign(name))
