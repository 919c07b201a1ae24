"""Text from agents made safe to show, and numbers as people say them: what every look shares."""

import re

_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\ud800-\udfff"
    "\U000e0000-\U000e007f"
)

RISKY = re.compile(f"[{_CONTROLS}]")
"""Controls of both sets, line separators, marks that reverse letters or have no width, tags, lone
surrogates."""

UNSEEN = re.compile(f"[{_CONTROLS}\u061c\u200e\u200f\ufeff]")
"""Those, and all marks without a column: for who has to know in which cell a letter stands."""


def clean(text: str, risky: re.Pattern[str] = RISKY) -> str:
    """Tabs and newlines stay; every other control is shown as a sign, so that a person sees that
    it was there."""
    return risky.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == 0x0D:
        return ""  # before a newline it is half of one; elsewhere it would overwrite the line
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"<{code:02X}>"


def count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}" + ("" if number == 1 else plural)
