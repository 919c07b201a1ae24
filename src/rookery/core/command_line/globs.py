"""Patterns that no text can make slow: `*`, for paths also `**` and `?`. `[*]` is a star itself."""

import re
from collections.abc import Iterable
from functools import lru_cache

LONGEST = 1000
"""Characters of a pattern."""

_ANY = "\0any"
_SIGNS = re.compile(r"\[(.)\]|(.)", re.DOTALL)
"""One that stands for itself, or any other."""


def escaped(text: str) -> str:
    """The pattern that matches this text alone."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def matches_text(pattern: str, text: str) -> bool:
    """`*` stands for any number of characters, also spaces and slashes; nothing else is special."""
    literal = pieces(pattern)
    if len(literal) == 1:
        return literal[0] == text
    first, *middle, last = literal
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


@lru_cache(maxsize=512)
def pieces(pattern: str) -> tuple[str, ...]:
    """The literal texts between the stars."""
    found = [""]
    for itself, sign in _SIGNS.findall(pattern):
        if sign == "*":
            found.append("")
        else:
            found[-1] += itself or sign
    return tuple(found)


@lru_cache(maxsize=512)
def beginning(pattern: str) -> str:
    """What every text that it matches begins with, blanks at the end apart."""
    return pieces(pattern)[0].rstrip(" ")


def may_match(patterns: tuple[str, ...], texts: Iterable[str]) -> bool:
    """Whether one of the texts begins as one of the patterns does; or ends so, where the beginning
    may be any. Most rules are about other commands, and are told from that."""
    begins, ends = _ends(patterns)
    for text in texts:  # noqa: SIM110 - asked for each rule
        if text.startswith(begins) or text.endswith(ends):
            return True
    return False


@lru_cache(maxsize=512)
def _ends(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    begun = tuple(filter(None, map(beginning, patterns)))
    return begun, tuple(pieces(each)[-1] for each in patterns if not beginning(each))


def matches_path(pattern: str, path: str, *, hidden: bool = True) -> bool:
    """`*` and `?` stay inside one name, `**` spans any number of them. Unless `hidden`, a name that
    begins with a dot is reached only by a pattern that does, as in a shell."""
    wanted = [part for part in pattern.split("/") if part]
    names = [part for part in path.split("/") if part]
    reached = {0}  # how many of the pattern's parts are used up
    for name in names:
        reached = {place for place in _closure(reached, wanted) if place < len(wanted)}
        if not hidden and name.startswith("."):
            reached = {place for place in reached if wanted[place].startswith((".", "[.]"))}
        after = {place for place in reached if wanted[place] == "**"}
        for place in reached:
            if wanted[place] != "**" and _matches_name(wanted[place], name):
                after.add(place + 1)
        reached = after
    return len(wanted) in _closure(reached, wanted)


def _closure(reached: set[int], wanted: list[str]) -> set[int]:
    """`**` may also stand for no name at all."""
    found = set(reached)
    for start in reached:
        place = start
        while place < len(wanted) and wanted[place] == "**":
            place += 1
            found.add(place)
    return found


def _matches_name(pattern: str, name: str) -> bool:
    signs = _signs(pattern)
    place = at = 0
    star, resume = -1, 0
    while at < len(name):
        sign = signs[place] if place < len(signs) else ""
        if sign == _ANY:
            star, resume = place, at
            place += 1
        elif sign and sign in ("?", "=" + name[at]):
            place, at = place + 1, at + 1
        elif star >= 0:
            resume += 1
            place, at = star + 1, resume
        else:
            return False
    return all(sign == _ANY for sign in signs[place:])


@lru_cache(maxsize=512)
def _signs(pattern: str) -> tuple[str, ...]:
    """Any number, any one (`?`), or `=x` for the sign x itself."""
    special = {"*": _ANY, "?": "?"}
    found = _SIGNS.findall(pattern)
    return tuple(special.get(sign, f"={itself or sign}") for itself, sign in found)
