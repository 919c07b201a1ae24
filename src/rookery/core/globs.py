"""Patterns that people write and no text can make slow: `*`, for paths also `**` and `?` (row P5).

`[*]` stands for the sign itself. Each pattern is taken apart once: a session's rules are tried on
every action.
"""

from collections.abc import Sequence
from functools import lru_cache

LONGEST = 1000
"""Characters of a pattern."""

_ANY = "\0any"


def escaped(text: str) -> str:
    """The pattern that matches this text alone."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def matches_text(pattern: str, text: str) -> bool:
    """`*` stands for any number of characters, also spaces and slashes; nothing else is special."""
    return any_matches((pattern,), (text,))


def any_matches(patterns: tuple[str, ...], texts: Sequence[str]) -> bool:
    """Whether one of these matches one of those. In plain loops: every rule is tried on every
    action."""
    for pieces in _all_pieces(patterns):
        first, last = pieces[0], pieces[-1]
        for text in texts:
            if text.startswith(first) and text.endswith(last) and _spans(pieces, text):
                return True
    return False


def _spans(pieces: tuple[str, ...], text: str) -> bool:
    """Whether a text that begins and ends so holds all the pieces, one behind the other."""
    if len(pieces) == 1:
        return pieces[0] == text
    place, end = len(pieces[0]), len(text) - len(pieces[-1])
    for piece in pieces[1:-1]:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return place <= end


@lru_cache(maxsize=4096)
def _all_pieces(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_pieces, patterns))


def _pieces(pattern: str) -> tuple[str, ...]:
    """The literal texts between the stars."""
    pieces, place = [""], 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "[" and pattern[place + 2 : place + 3] == "]":
            pieces[-1] += pattern[place + 1]
            place += 3
            continue
        if sign == "*":
            pieces.append("")
        else:
            pieces[-1] += sign
        place += 1
    return tuple(pieces)


def matches_path(pattern: str, path: str) -> bool:
    """`*` and `?` stay inside one name, `**` spans any number of them."""
    wanted = _parts(pattern)
    names = [part for part in path.split("/") if part]
    reached = {0}  # how many of the pattern's parts are used up
    for name in names:
        reached = _closure(reached, wanted)
        after = {place for place in reached if place < len(wanted) and wanted[place] == "**"}
        for place in reached:
            if place < len(wanted) and wanted[place] != "**" and _matches_name(wanted[place], name):
                after.add(place + 1)
        reached = after
    return len(wanted) in _closure(reached, wanted)


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(part for part in pattern.split("/") if part)


def _closure(reached: set[int], wanted: tuple[str, ...]) -> set[int]:
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


@lru_cache(maxsize=4096)
def _signs(pattern: str) -> tuple[str, ...]:
    """Any number, any one (`?`), or `=x` for the sign x itself."""
    found, place = list[str](), 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "[" and pattern[place + 2 : place + 3] == "]":
            found.append("=" + pattern[place + 1])
            place += 3
            continue
        found.append(_ANY if sign == "*" else "?" if sign == "?" else "=" + sign)
        place += 1
    return tuple(found)
