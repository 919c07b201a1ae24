"""Glob patterns that match in bounded time: `*`, and for paths also `**` and `?`. `[*]` is a
literal star."""

import re
from collections.abc import Iterable
from functools import lru_cache

MAX_PATTERN_LENGTH = 1000
"""Characters of a pattern."""

_ANY = "\0any"
_SIGNS = re.compile(r"\[(.)\]|(.)", re.DOTALL)
"""One that stands for itself, or any other."""


def escaped(text: str) -> str:
    """Return the pattern that matches only this text."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def matches_text(pattern: str, text: str) -> bool:
    """Whether a pattern matches a text. `*` stands for any number of characters, spaces and slashes
    included; nothing else is special."""
    literal = pieces(pattern)
    if len(literal) == 1:
        return literal[0] == text
    first, *middle, last = literal
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in middle:
        index = text.find(piece, place, end)
        if index < 0:
            return False
        place = index + len(piece)
    return True


@lru_cache(maxsize=512)
def pieces(pattern: str) -> tuple[str, ...]:
    """Split a pattern into the literal texts between its stars."""
    literals = [""]
    for itself, sign in _SIGNS.findall(pattern):
        if sign == "*":
            literals.append("")
        else:
            literals[-1] += itself or sign
    return tuple(literals)


@lru_cache(maxsize=512)
def beginning(pattern: str) -> str:
    """Return the prefix that every matching text has, without trailing spaces."""
    return pieces(pattern)[0].rstrip(" ")


def may_match(patterns: tuple[str, ...], texts: Iterable[str]) -> bool:
    """Whether a text has the prefix of one of the patterns, or its suffix if the pattern begins
    with a star. A cheap first test: most rules are about other commands."""
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
    """Whether a pattern matches a path. `*` and `?` stay inside one name, `**` spans any number of
    them. Unless `hidden`, only a pattern part that begins with a dot matches a name that does, as
    in a shell."""
    parts = [part for part in pattern.split("/") if part]
    names = [part for part in path.split("/") if part]
    reached = {0}  # how many of the pattern's parts are used up
    for name in names:
        reached = {place for place in _closure(reached, parts) if place < len(parts)}
        if not hidden and name.startswith("."):
            reached = {place for place in reached if parts[place].startswith((".", "[.]"))}
        after = {place for place in reached if parts[place] == "**"}
        for place in reached:
            if parts[place] != "**" and _matches_name(parts[place], name):
                after.add(place + 1)
        reached = after
    return len(parts) in _closure(reached, parts)


def _closure(reached: set[int], wanted: list[str]) -> set[int]:
    """Add the positions behind each `**`, which may also stand for no name at all."""
    places = set(reached)
    for start in reached:
        place = start
        while place < len(wanted) and wanted[place] == "**":
            place += 1
            places.add(place)
    return places


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
    """Split a pattern into its signs: any number, any one (`?`), or `=x` for the character x
    itself."""
    special = {"*": _ANY, "?": "?"}
    tokens = _SIGNS.findall(pattern)
    return tuple(special.get(sign, f"={itself or sign}") for itself, sign in tokens)
