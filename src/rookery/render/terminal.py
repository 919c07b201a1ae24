"""A command's output as the lines that a terminal would show. The only escape sequences obeyed are
those for colours and for moves within the text."""

import re
from functools import lru_cache
from typing import NamedTuple

from rookery.render.runs import clean

type Colour = int | tuple[int, int, int] | None
"""One of the 256 by number, or red, green and blue; None: the default."""


class Style(NamedTuple):
    colour: Colour = None
    ground: Colour = None
    flags: frozenset[str] = frozenset()
    """Any of bold, dim, italic, underline, reverse, strike."""


type Run = tuple[str, Style]
type Line = list[Run]


class Mark(NamedTuple):
    """A saved state of a screen: its last rows, the cursor and the style."""

    first: int
    rows: list[Line]
    row: int
    column: int | None
    style: Style


_TOKEN = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # CSI: colours, and what moves the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"  # strings for the terminal itself
    r"|\x1b[ -/]*[0-~]?"
    r"|[\r\b]"
)

LONGEST_LINE = 2_000
"""Characters shown of one line."""

UP = 50
"""Lines that a command may go back to overwrite."""

PLAIN = Style()


def lines_of(text: str, longest: int = LONGEST_LINE) -> list[Line]:
    """Return the lines of a text; colours continue from line to line, as in a terminal. `longest`:
    characters shown of one."""
    screen = Screen(longest)
    for number, row in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            screen.new_line()
        screen.write(row)
    return screen.lines()


class Screen:
    """A terminal screen: cells for rows that were overwritten, plain runs for others. For output
    that is still coming, call `mark` before what may change, `go_back` to it, and `forget` what is
    far above."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rows: list[Line] = [[]]
        self._row = 0
        self._column: int | None = None  # None: at the end of the row
        self._style = PLAIN

    def new_line(self) -> None:
        self._row += 1
        self._column = None
        if self._row == len(self._rows):
            self._rows.append([])
        elif self._rows[self._row]:
            self._column = 0

    def write(self, row: str) -> None:
        if len(row) > 4 * self._longest:
            # A bar that writes itself again and again: its last state is the one that counts.
            row = row[: 2 * self._longest] + row[-2 * self._longest :] if "\r" in row else row
            row = row[: 4 * self._longest]
        place = 0
        for match in _TOKEN.finditer(row):
            self._put(row[place : match.start()])
            place = match.end()
            self._obey(match)
        self._put(row[place:])

    def lines(self, last: int | None = None) -> list[Line]:
        return [_shortened(row, self._longest) for row in self._rows[:last]]

    @property
    def row(self) -> int:
        return self._row

    def mark(self) -> Mark:
        kept = max(0, self._row - UP)
        rows = [list(row) for row in self._rows[kept:]]
        return Mark(kept, rows, self._row, self._column, self._style)

    def go_back(self, mark: Mark) -> None:
        self._rows[mark.first :] = mark.rows
        self._row, self._column, self._style = mark.row, mark.column, mark.style

    def forget(self, number: int) -> None:
        """Drop that many rows at the top, which nothing can reach any more."""
        del self._rows[:number]
        self._row -= number

    def _put(self, text: str) -> None:
        text = clean(text)
        if not text:
            return
        row = self._rows[self._row]
        if self._column is None:
            row.append((text, self._style))
            return
        cells = _cells(row)
        cells += [(" ", PLAIN)] * (self._column - len(cells))
        cells[self._column : self._column + len(text)] = [(each, self._style) for each in text]
        self._column += len(text)
        self._rows[self._row] = _joined(cells)

    def _obey(self, match: re.Match[str]) -> None:
        sign = match.group()
        if sign == "\r":
            self._column = 0
        elif sign == "\b":
            here = len(_cells(self._rows[self._row])) if self._column is None else self._column
            self._column = max(0, here - 1)
        elif match.group(2) == "m":
            self._style = restyled(self._style, match.group(1))
        elif match.group(2):
            self._move(match.group(2), match.group(1))

    def _move(self, verb: str, given: str) -> None:
        number = int(given) if given.isdigit() and len(given) < 4 else 1
        match verb:
            case "K" if given in ("", "0", "2"):
                kept = 0 if given == "2" else self._column
                if kept is not None:
                    self._rows[self._row] = _joined(_cells(self._rows[self._row])[:kept])
            case "A" | "F":
                self._row = max(0, self._row - min(number, UP))
                self._column = 0
            case "G":
                self._column = max(0, min(number, LONGEST_LINE) - 1)
            case "J" if given in ("", "0"):
                del self._rows[self._row + 1 :]


def _cells(row: Line) -> Line:
    return [(letter, style) for text, style in row for letter in text]


def _joined(cells: Line) -> Line:
    runs: Line = []
    for letter, style in cells:
        if runs and runs[-1][1] is style:
            runs[-1] = (runs[-1][0] + letter, style)
        else:
            runs.append((letter, style))
    return runs


def _shortened(row: Line, longest: int) -> Line:
    length = sum(len(text) for text, _ in row)
    if length <= longest:
        return row
    kept: Line = []
    room = longest
    for text, style in row:
        kept.append((text[: max(room, 0)], style))
        room -= len(text)
    return [*kept, (f" … {length - longest:,} more characters", PLAIN)]


# --- colours -----------------------------------------------------------------------------------

_SET = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_UNSET = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"reverse"}, 29: {"strike"}}


def restyled(style: Style, given: str) -> Style:
    """Return the style after a colour sequence; unknown codes change nothing."""
    parts = given.replace(":", ";").split(";")[:40]
    codes = [int(part) if part.isdigit() and len(part) < 4 else 0 for part in parts]
    while codes:
        tens, unit = divmod(code := codes.pop(0), 10)
        if code == 0:
            style = PLAIN
        elif code in _SET:
            style = style._replace(flags=style.flags | {_SET[code]})
        elif code in _UNSET:
            style = style._replace(flags=style.flags - _UNSET[code])
        elif tens in (3, 4, 9, 10) and unit <= 7:
            style = _coloured(style, tens, unit + 8 * (tens > 4))
        elif code in (39, 49):
            style = _coloured(style, tens, None)
        elif code in (38, 48) and (colour := _extended(codes)) is not None:
            style = _coloured(style, tens, colour)
    return style


@lru_cache(maxsize=1000)
def name_of(style: Style) -> str:
    """Return a style's name: `sgr=` and the codes that a terminal takes for it; "" if plain."""
    codes = [code for code, flag in _SET.items() if flag in style.flags]
    for colour, tens in ((style.colour, 3), (style.ground, 4)):
        if isinstance(colour, tuple):
            codes += [10 * tens + 8, 2, *colour]
        elif colour is not None:
            small = 10 * tens + colour if colour < 8 else 10 * tens + 52 + colour
            codes += [small] if colour < 16 else [10 * tens + 8, 5, colour]
    return f"sgr={';'.join(map(str, codes))}" if codes else ""


def _coloured(style: Style, tens: int, colour: Colour) -> Style:
    return style._replace(ground=colour) if tens in (4, 10) else style._replace(colour=colour)


def _extended(codes: list[int]) -> Colour:
    """Parse `5;n` or `2;r;g;b`, removing its numbers from the list."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return codes.pop(0) & 255
    if kind == 2 and len(codes) >= 3:
        return codes.pop(0) & 255, codes.pop(0) & 255, codes.pop(0) & 255
    return None
