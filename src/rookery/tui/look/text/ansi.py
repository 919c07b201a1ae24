"""What a command printed, as the lines that a terminal would show: colours are kept, and nothing
else of an escape sequence ever reaches ours."""

import re

from rich.color import Color, ColorParseError
from rich.style import Style

from rookery.tui.look.plain import clean
from rookery.tui.look.runs import Line, Run

_TOKEN = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # CSI: colours, and what moves the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"  # strings for the terminal itself
    r"|\x1b[ -/]*[0-~]?"
    r"|[\r\b]"
)

LONGEST_LINE = 2_000
"""Characters of one line that are shown."""

UP = 50
"""Lines that a command may go back to write them again."""

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_PLAIN = Style()


def lines_of(text: str) -> list[Line]:
    """Colours run on from line to line, as in a terminal."""
    screen = _Screen()
    for number, row in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            screen.new_line()
        screen.write(row)
    return screen.lines()


class _Screen:
    """Rows of cells where a row was written over, plain runs where it was not."""

    def __init__(self) -> None:
        self._rows: list[Line] = [[]]
        self._row = 0
        self._column: int | None = None  # None: at the end of the row
        self._style = _PLAIN

    def new_line(self) -> None:
        self._row += 1
        self._column = None
        if self._row == len(self._rows):
            self._rows.append([])
        elif self._rows[self._row]:
            self._column = 0

    def write(self, row: str) -> None:
        if len(row) > 4 * LONGEST_LINE:
            # A bar that writes itself again and again: its last state is the one that counts.
            row = row[: 2 * LONGEST_LINE] + row[-2 * LONGEST_LINE :] if "\r" in row else row
            row = row[: 4 * LONGEST_LINE]
        place = 0
        for found in _TOKEN.finditer(row):
            self._put(row[place : found.start()])
            place = found.end()
            self._obey(found)
        self._put(row[place:])

    def lines(self) -> list[Line]:
        return [_shortened(row) for row in self._rows]

    def _put(self, text: str) -> None:
        text = clean(text)
        if not text:
            return
        row = self._rows[self._row]
        if self._column is None:
            row.append((text, self._style))
            return
        cells = _cells(row)
        cells += [(" ", _PLAIN)] * (self._column - len(cells))
        cells[self._column : self._column + len(text)] = [(each, self._style) for each in text]
        self._column += len(text)
        self._rows[self._row] = _joined(cells)

    def _obey(self, found: re.Match[str]) -> None:
        sign = found.group()
        if sign == "\r":
            self._column = 0
        elif sign == "\b":
            here = len(_cells(self._rows[self._row])) if self._column is None else self._column
            self._column = max(0, here - 1)
        elif found.group(2) == "m":
            self._style = restyled(self._style, found.group(1))
        elif found.group(2):
            self._move(found.group(2), found.group(1))

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


def _shortened(row: Line) -> Line:
    length = sum(len(text) for text, _ in row)
    if length <= LONGEST_LINE:
        return row
    kept: list[Run] = []
    room = LONGEST_LINE
    for text, style in row:
        kept.append((text[:room], style))
        room -= len(text)
        if room <= 0:
            break
    return [*kept, (f" … {length - LONGEST_LINE:,} more characters", _PLAIN)]


# --- colours -----------------------------------------------------------------------------------

_SET = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_UNSET = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",)}
_UNSET[29] = ("strike",)


def restyled(style: Style, given: str) -> Style:
    """The style after a colour sequence; what it does not know changes nothing."""
    codes = [int(part) if part.isdigit() and len(part) < 4 else 0 for part in _parts(given)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = _PLAIN
        elif code in _SET:
            style += Style(**{_SET[code]: True})  # type: ignore[arg-type]
        elif code in _UNSET:
            style += Style(**dict.fromkeys(_UNSET[code], False))  # type: ignore[arg-type]
        elif code in (38, 48):
            style += _extended(codes, ground=code == 48)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style += Style(color=_named(code % 10, bright=code >= 90))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style += Style(bgcolor=_named(code % 10, bright=code >= 100))
        elif code in (39, 49):
            style += Style(color="default") if code == 39 else Style(bgcolor="default")
    return style


def _parts(given: str) -> list[str]:
    return given.replace(":", ";").split(";")[:40]


def _named(number: int, *, bright: bool) -> str:
    return f"bright_{_NAMES[number]}" if bright else _NAMES[number]


def _extended(codes: list[int], *, ground: bool) -> Style:
    """`5;n` and `2;r;g;b`; takes its numbers off the list."""
    kind = codes.pop(0) if codes else 0
    try:
        if kind == 5 and codes:
            colour = Color.from_ansi(codes.pop(0) & 255)
        elif kind == 2 and len(codes) >= 3:
            red, green, blue = (codes.pop(0) & 255 for _ in range(3))
            colour = Color.from_rgb(red, green, blue)
        else:
            return _PLAIN
    except ColorParseError:
        return _PLAIN
    return Style.from_color(None, colour) if ground else Style.from_color(colour)
