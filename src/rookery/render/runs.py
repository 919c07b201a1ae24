"""Clean text measured in columns, and lines of styled runs, wrapped at a width.

What a style is, is up to the caller: the drawer of blocks (`render/lines`) has names."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from rookery.core.json import safe_text
from rookery.core.json.safe_text import count

__all__ = ["clean", "clean_line", "count"]

type Run = tuple[str, str]
type Line = list[Run]
"""Runs with the names of their styles: words separated by blanks, a later one over an earlier."""

PROSE = 76
"""Columns of prose: longer lines are hard to read."""
TAB = 4

_WORDS = re.compile(r"\s+|(?<=: )rookery(?: [\w-]+){1,4}\.?$|\S+")
"""A command at the end of a sentence is one word, so that it can be copied."""


def clean(text: str) -> str:
    """Keep newlines, expand tabs, and replace every other control character by a sign."""
    return safe_text.clean(text.expandtabs(TAB))


def clean_line(text: str, most: int = 2000) -> str:
    """Clean text like `clean`, on one line, with runs of blanks collapsed."""
    return safe_text.clean_line(text[:most])


@lru_cache(maxsize=2000)
def styled(*names: str) -> str:
    """Return the names of a style that has all of these."""
    return " ".join(filter(None, names))


# --- columns -------------------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def _columns_of(letter: str) -> int:
    from unicodedata import category, east_asian_width  # few texts need it

    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1


def _chopped(text: str, width: int) -> list[str]:
    pieces, used = [""], 0
    for letter in text:
        wide = _columns_of(letter)
        if used + wide > width and pieces[-1]:
            pieces.append("")
            used = 0
        pieces[-1] += letter
        used += wide
    return pieces


class Measure:
    """How wide a text is: letter by letter, unless a face measures as its library paints."""

    width: Callable[[str], int] = staticmethod(lambda text: sum(map(_columns_of, text)))
    chopped: Callable[[str, int], list[str]] = staticmethod(_chopped)
    """Return a text in pieces of at most so many columns."""


def width_of(text: str) -> int:
    """Return the columns of a clean text."""
    return len(text) if text.isascii() else Measure.width(text)


def cut(text: str, most: int) -> str:
    """Return a clean line cut to `most` columns, with an ellipsis where something is missing."""
    if width_of(text) <= most:
        return text
    if most <= 1:
        return "…"[: max(0, most)]
    head = text[: most - 1] if text.isascii() else _head(text, most - 1)
    return head.rstrip() + "…"


def _head(text: str, room: int) -> str:
    """Return the beginning that fits, "" if not one letter does."""
    first = Measure.chopped(text, room)[0] if room > 0 and text else ""
    return first if width_of(first) <= room else ""


def width_of_line[S](line: Iterable[tuple[str, S]]) -> int:
    return sum(width_of(text) for text, _ in line)


# --- lines ---------------------------------------------------------------------------------------


def wrap[S](runs: Iterable[tuple[str, S]], width: int) -> list[list[tuple[str, S]]]:
    """Break at blanks and newlines, and inside words wider than a line."""
    width = max(width, 1)
    lines: list[list[tuple[str, S]]] = [[]]
    used = 0
    blank: tuple[str, S] | None = None
    for word, style in _pieces(runs):
        if word == "\n":
            lines.append([])
            used, blank = 0, None
            continue
        if word.isspace():
            if used or not lines[-1]:
                blank = (word, style)
            continue
        lead = width_of(blank[0]) if blank else 0
        wide = width_of(word)
        if used and used + lead + wide > width:
            lines.append([])
            used, blank, lead = 0, None, 0
        if blank and used + lead + min(wide, width) <= width:
            lines[-1].append(blank)
            used += lead
        blank = None
        if used + wide <= width:
            lines[-1].append((word, style))
            used += wide
            continue
        for piece in broken(word, width):
            if lines[-1]:
                lines.append([])
            lines[-1].append((piece, style))
            used = width_of(piece)
    return lines


def _pieces[S](runs: Iterable[tuple[str, S]]) -> Iterable[tuple[str, S]]:
    for text, style in runs:
        for number, row in enumerate(text.split("\n")):
            if number:
                yield "\n", style
            for word in _WORDS.findall(row):
                yield word, style


def broken(word: str, width: int) -> list[str]:
    """Return a word in pieces that fit; a letter wider than the line becomes an ellipsis."""
    if word.isascii():
        return [word[at : at + width] for at in range(0, len(word), width)]
    if width < 2:
        return [letter if width_of(letter) <= width else "…" for letter in word]
    return Measure.chopped(word, width)


def fold[S](runs: Iterable[tuple[str, S]], width: int) -> list[list[tuple[str, S]]]:
    """Break at the width, as a terminal does: for code and output."""
    width = max(width, 1)
    runs = list(runs)
    if width_of_line(runs) <= width:
        return [runs]
    lines: list[list[tuple[str, S]]] = [[]]
    used = 0
    for text, style in runs:
        rest = text
        while rest:
            room = width - used
            if width_of(rest) <= room:
                lines[-1].append((rest, style))
                used += width_of(rest)
                break
            piece = rest[:room] if rest.isascii() else _letters(rest, room)
            if piece:
                lines[-1].append((piece, style))
            elif not used:  # not one letter fits into a line
                rest = rest[1:]
                lines[-1].append(("…", style))
                used = width
                continue
            rest = rest[len(piece) :]
            lines.append([])
            used = 0
    return lines


def _letters(text: str, room: int) -> str:
    taken = 0
    for place, letter in enumerate(text):
        taken += width_of(letter)
        if taken > room:
            return text[:place]
    return text


def trimmed[S](line: list[tuple[str, S]], width: int) -> list[tuple[str, S]]:
    """Return a line cut to a width, with an ellipsis where something is missing."""
    if width_of_line(line) <= width:
        return line
    kept: list[tuple[str, S]] = []
    room = max(width, 0)
    for text, style in line:
        wide = width_of(text)
        if wide >= room:
            kept.append((cut(text + " " * (wide == room), room), style))
            break
        kept.append((text, style))
        room -= wide
    return kept


def prefixed[S](
    lines: list[list[tuple[str, S]]],
    first: list[tuple[str, S]],
    rest: list[tuple[str, S]] | None = None,
) -> list[list[tuple[str, S]]]:
    """Put `first` before the first line and `rest` before the others."""
    after = first if rest is None else rest
    return [[*(after if number else first), *line] for number, line in enumerate(lines)]
