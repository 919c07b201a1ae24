"""Colours and marks for the terminal: a colour never comes without a mark or a word."""

from rookery.render import signs

SIGNS = signs.SIGNS | {
    "here": ("▸", ">"),
    "thought": ("∴", "~"),
    "answer": ("→", "->"),
    "rule": ("▌", "|"),
    "edge": ("│", "|"),
    "line": ("─", "-"),
    "dot": ("·", "-"),
    "minus": ("−", "-"),
    "more": ("…", "..."),
}
"""A sign, and what replaces it where the encoding lacks it."""

COLOURS = {
    "done": "32",
    "failed": "31",
    "damaged": "31",
    "running": "36",
    "needs-you": "33",
    "limited": "33",
    "held": "33",
    "hung": "31",
    "stopped": "33",
    "warn": "33",
    "faint": "2",
    "strong": "1",
    "rule": "36",
}


class Paint:
    """Paints text. `colour`: use escape sequences; `signs`: the encoding has our signs."""

    __slots__ = ("colour", "signs")

    def __init__(self, *, colour: bool, signs: bool = True) -> None:
        self.colour = colour
        self.signs = signs

    def in_(self, token: str, text: str) -> str:
        code = COLOURS.get(token)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text

    def faint(self, text: str) -> str:
        return self.in_("faint", text)

    def sign(self, name: str) -> str:
        return SIGNS[name][0 if self.signs else 1]

    def mark(self, name: str) -> str:
        return self.in_(name, self.sign(name))
