"""Clean text measured in columns, and lines of styled runs, wrapped at a width."""

import re
from collections.abc import Iterable
from functools import lru_cache

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rookery.core.json.safe_text import count
from rookery.render.plain import clean, clean_line

__all__ = ["clean", "clean_line", "count"]

type Run = tuple[str, Style]
type Line = list[Run]

PICTURE = "\U0010eeee"
"""Each cell of a picture begins with it; no text from outside has it (`clean`)."""
PROSE = 76
"""Columns of prose: longer lines are hard to read."""

_WORDS = re.compile(r"\s+|\S+")


def width_of(text: str) -> int:
    """Return the columns of a clean text."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, most: int) -> str:
    """Return a clean line cut to `most` columns, with an ellipsis where something is missing."""
    if width_of(text) <= most:
        return text
    if most <= 1:
        return "…"[:most]
    return set_cell_size(text, most - 1).rstrip() + "…"


def width_of_line(line: Iterable[Run]) -> int:
    return sum(width_of(text) for text, _ in line)


def wrap(runs: Iterable[Run], width: int) -> list[Line]:
    """Break at blanks and newlines, and inside words wider than a line."""
    width = max(width, 1)
    lines: list[Line] = [[]]
    used = 0
    blank: Run | None = None
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


def _pieces(runs: Iterable[Run]) -> Iterable[Run]:
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
    return chop_cells(word, width)


def fold(runs: Iterable[Run], width: int) -> list[Line]:
    """Break at the width, as a terminal does: for code and output."""
    width = max(width, 1)
    runs = list(runs)
    if width_of_line(runs) <= width:
        return [runs]
    lines: list[Line] = [[]]
    used = 0
    for text, style in runs:
        rest = text
        while rest:
            room = width - used
            if width_of(rest) <= room:
                lines[-1].append((rest, style))
                used += width_of(rest)
                break
            piece = rest[:room] if rest.isascii() else _head(rest, room)
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


def _head(text: str, room: int) -> str:
    taken = 0
    for place, letter in enumerate(text):
        taken += width_of(letter)
        if taken > room:
            return text[:place]
    return text


def trimmed(line: Line, width: int) -> Line:
    """Return a line cut to a width, with an ellipsis where something is missing."""
    if width_of_line(line) <= width:
        return line
    kept: Line = []
    room = max(width, 0)
    for text, style in line:
        wide = width_of(text)
        if wide >= room:
            kept.append((cut(text + " " * (wide == room), room), style))
            break
        kept.append((text, style))
        room -= wide
    return kept


def prefixed(lines: list[Line], first: Line, rest: Line | None = None) -> list[Line]:
    """Put `first` before the first line and `rest` before the others."""
    after = first if rest is None else rest
    return [[*(after if number else first), *line] for number, line in enumerate(lines)]


@lru_cache(maxsize=500)
def leading_to(address: str) -> Style:
    """Return the style of a link, for the terminal (OSC 8) and for a click. `address`: one that may
    be followed, so it has no character that ends the terminal's sequence."""
    return Style(link=address, meta={"link": address})


def strip_of(line: Line) -> Strip:
    return Strip([Segment(text, style) for text, style in line if text])
