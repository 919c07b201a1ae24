"""Making agents' text safe to show, and counts in words: the same in every interface.

`shown` and `visible` remove or mark what a text can hide from its reader: characters without a
width, characters that reverse others or only look like a space, spaces by the hundred. An ask shows
what will run, so its text goes through them."""

import re
from typing import NamedTuple

_RISKY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\U000e0000-\U000e007f\U0010eeee]"
)
"""Controls of both sets, line separators, tags, lone surrogates, what reverses or has no width, and
the character in whose place kitty draws a picture."""


def clean(text: str) -> str:
    """Replace every control character except tabs and newlines by a visible sign."""
    if text.isascii() and text.isprintable():
        return text
    # Before a newline, \r is half of one; elsewhere it would overwrite the line.
    return _RISKY.sub(sign_for, text.replace("\r", ""))


def clean_line(text: str) -> str:
    """Do the same on one line, with runs of whitespace collapsed."""
    return " ".join(clean(text).split())


def sign_for(match: re.Match[str]) -> str:
    """Return the sign that is shown for a character that would be invisible."""
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"<{code:02X}>"


def count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}" + ("" if number == 1 else plural)


def fence(text: str, least: int = 3) -> str:
    """Return a fence with more backticks in a row than the text has."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that no font shows: zero-width letters, directions, tags, selectors, fillers."""

_STACKED = (
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})"
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+)"
)
"""Accents upon accents, which cover the lines above."""

_ODD = (
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"
    "\ud800-\udfff]"
)
"""Controls, and what looks like a blank or a line's end and is none for a shell."""

_BLANKS = "[ \t]{5,}"
_EMPTY = "\n(?:[ \t]*\n){4,}"
# Not compiled before they are needed: most texts need none of them.

WIDEST_GAP = 16
WIDEST_INDENT = 40
"""Columns of blanks that stay as they are, within a line and at its beginning."""


class Shown(NamedTuple):
    text: str
    removed: int = 0
    """Letters that nobody could have seen."""


def shown(text: str) -> Shown:
    """Return the whole text with its lines, in a form in which everything in it is visible."""
    if text.isascii() and text.isprintable() and "     " not in text:
        return Shown(text)
    bare, unseen = re.subn(_UNSEEN, "", text.replace("\r\n", "\n"))
    stacked = sum(len(match.group(2)) for match in re.finditer(_STACKED, bare))
    bare = re.sub(_STACKED, r"\1", bare) if stacked else bare
    bare = re.sub(_ODD, sign_for, bare)
    bare = re.sub(_EMPTY, _empty_lines, bare)
    return Shown(re.sub(_BLANKS, _gap, bare), unseen + stacked)


def visible(text: str) -> str:
    """Return a file's text with a sign for each invisible letter: in a diff, one that comes or goes
    is the change. Characters that join the parts of an emoji stay."""
    if text.isascii() and text.isprintable():
        return text
    text = re.sub(_UNSEEN, _unless_joining, text.replace("\r\n", "\n"))
    return re.sub(_ODD, sign_for, text)


def _unless_joining(match: re.Match[str]) -> str:
    return match.group() if match.group() in "\u200c\u200d\ufe0f" else sign_for(match)


def removed_note(removed: int) -> str:
    """Describe in words what `shown` removed; "" if it removed nothing."""
    return f"{count(removed, 'invisible character')} removed" if removed else ""


def _empty_lines(match: re.Match[str]) -> str:
    return f"\n⟨{match.group().count(chr(10)) - 1:,} empty lines⟩\n"


def _gap(match: re.Match[str]) -> str:
    begins = match.start() == 0 or match.string[match.start() - 1] == "\n"
    wide = len(match.group().expandtabs(8))
    if wide <= (WIDEST_INDENT if begins else WIDEST_GAP):
        return match.group()
    return f"⟨{wide:,} blanks⟩"
