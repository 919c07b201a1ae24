"""Tables that fit the terminal: columns are shortened, then left out by rank."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rookery.cli.output.safe import columns, cut, pad
from rookery.cli.output.screen import Screen

GAP = 2


class Column(NamedTuple):
    heading: str
    least: int = 0
    """It may be cut to this many; 0: never."""
    rank: int = 0
    """The highest is left out first; 0: never."""
    right: bool = False
    wish: int = 0
    """Rather than cut it below this many, others are left out."""


type Look = Callable[[int, str, str], str]
"""A cell's row, its column's heading, and the padded text."""


def write(
    screen: Screen,
    shape: Sequence[Column],
    rows: Sequence[Sequence[str]],
    look: Look | None = None,
    *,
    whole: bool = False,
) -> None:
    """Write a table of clean lines without colour; `look` paints them. `whole`: cut nothing."""
    natural = [
        max(columns(column.heading), *(columns(row[place]) for row in rows))
        for place, column in enumerate(shape)
    ]
    widths = fitted(shape, natural, screen.width) if screen.fits and not whole else natural
    kept = [place for place, width in enumerate(widths) if width]
    headings = [_cell(shape[place], shape[place].heading, widths[place]) for place in kept]
    screen.line((" " * GAP).join(map(screen.paint.faint, headings)).rstrip())
    for number, row in enumerate(rows):
        cells = [_cell(shape[place], row[place], widths[place]) for place in kept]
        if look is not None:
            names = [shape[place].heading for place in kept]
            cells = [look(number, *pair) for pair in zip(names, cells, strict=True)]
        screen.line((" " * GAP).join(cells).rstrip())


def fitted(shape: Sequence[Column], natural: Sequence[int], room: int) -> list[int]:
    """Return the width of each column; 0 if it is left out."""
    widths = list(natural)
    while (over := _taken(widths) - room) > 0:
        ranked = [place for place, column in enumerate(shape) if column.rank and widths[place]]
        _shorten(shape, widths, over, final=not ranked)
        if _taken(widths) <= room:
            break
        if not ranked:
            break
        gone = max(ranked, key=lambda place: shape[place].rank)
        # Its room goes to those that were cut.
        widths = [n if w else 0 for n, w in zip(natural, widths, strict=True)]
        widths[gone] = 0
    return widths


def _shorten(shape: Sequence[Column], widths: list[int], over: int, *, final: bool) -> None:
    """Shorten the widest first, until they are even; `final`: no column can be left out now."""
    floors = [each.least if final else max(each.least, each.wish) for each in shape]
    while over > 0:
        spare = [
            place
            for place, column in enumerate(shape)
            if column.least and widths[place] > floors[place]
        ]
        if not spare:
            return
        widest = max(spare, key=lambda place: widths[place])
        widths[widest] -= 1
        over -= 1


def _taken(widths: Sequence[int]) -> int:
    kept = [width for width in widths if width]
    return sum(kept) + GAP * (len(kept) - 1)


def _cell(column: Column, text: str, width: int) -> str:
    short = cut(text, width)
    return " " * (width - columns(short)) + short if column.right else pad(short, width)
