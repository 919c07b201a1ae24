"""Colour and marks: colour means state, and a mark or a word always goes with it."""

SIGNS = {
    "done": ("✓", "ok"),
    "failed": ("✗", "!!"),
    "running": ("▸", ">"),
    "pending": ("○", "-"),
    "needs-you": ("◆", "?"),
    "stopped": ("■", "#"),
    "idle": ("○", "-"),
    "unread": ("●", "*"),
    "damaged": ("✗", "!!"),
    "waiting": ("◌", "~"),
    "asleep": ("·", "."),
    "thought": ("∴", "~"),
    "note": ("•", "*"),
    "warn": ("!", "!"),
    "answer": ("→", "->"),
    "rule": ("▌", "|"),
    "edge": ("│", "|"),
    "line": ("─", "-"),
    "dot": ("·", "-"),
    "minus": ("−", "-"),
    "more": ("…", "..."),
}
"""A sign, and what stands for it where the encoding has no such letter."""

COLOURS = {
    "done": "32",
    "failed": "31",
    "damaged": "31",
    "running": "36",
    "needs-you": "33",
    "stopped": "33",
    "warn": "33",
    "faint": "2",
    "strong": "1",
    "rule": "36",
}


class Paint:
    """`colour`: whether escape sequences may be used; `signs`: whether the encoding has ours."""

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
