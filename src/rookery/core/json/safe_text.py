"""Text from agents made safe to show, and counts in words: the same in every interface."""

import re

_RISKY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
"""Controls of both sets, line separators, marks that reverse letters or have no width, tags, lone
surrogates."""


def clean(text: str) -> str:
    """Tabs and newlines stay; every other control is replaced by a visible sign."""
    if text.isascii() and text.isprintable():
        return text
    # Before a newline, \r is half of one; elsewhere it would overwrite the line.
    return _RISKY.sub(sign_for, text.replace("\r", ""))


def clean_line(text: str) -> str:
    """The same on one line, with runs of blanks collapsed."""
    return " ".join(clean(text).split())


def sign_for(found: re.Match[str]) -> str:
    """What is shown for a character that would not be seen."""
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"<{code:02X}>"


def count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}" + ("" if number == 1 else plural)
