"""Kitty's graphics protocol: the commands that send a picture, and the cells that stand for it.

A placeholder is one character with three marks: the row and the column of the picture that its cell
shows, and the highest byte of the picture's number. The other bytes are the character's colour.
With 256 colours that is the index in the palette, else red, green and blue; the colours used here
are the same in both, so that nothing on the way to the terminal changes them."""

from base64 import b64encode
from collections.abc import Iterator
from itertools import product

from rookery.tui.look.runs import PICTURE

_MARKS = """
305 30d 30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8
5a9 5ab 5ac 5af 5c4 610-617 657-65b 65d 65e 6d6-6dc 6df-6e2 6e4 6e7 6e8 6eb 6ec 730 732 733 735 736
73a 73d 73f-741 743 745 747 749 74a 7eb-7f1 7f3 816-819 81b-823 825-827 829-82c
"""
"""The first 128 of the protocol's list: combining marks above a letter that compose with none."""
CHUNK = 4096
"""Characters of one command."""

_LEVELS = (95, 135, 175, 215, 255)
_COLOURS = tuple(each for each in product(range(5), repeat=3) if len(set(each)) > 1)
"""Colours by their levels of red, green and blue. Greys have another place in the palette."""


def _marks() -> Iterator[str]:
    for span in _MARKS.split():
        first, _, last = span.partition("-")
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


MARKS = tuple(_marks())
MAX_SIDE = len(MARKS)
"""Rows and columns of a picture."""


class Number:
    """The number of one picture in the terminal. `place`: its position in their order."""

    __slots__ = ("_levels", "high", "low")

    def __init__(self, place: int, colours: str) -> None:
        turn, at = divmod(place, len(_COLOURS))
        self._levels = red, green, blue = _COLOURS[at]
        self.high = 1 + turn % (MAX_SIDE - 1)
        r, g, b = self._rgb
        index = 16 + 36 * (red + 1) + 6 * (green + 1) + blue + 1
        self.low = index if colours == "256" else r << 16 | g << 8 | b

    @property
    def _rgb(self) -> tuple[int, ...]:
        return tuple(_LEVELS[each] for each in self._levels)

    @property
    def whole(self) -> int:
        return self.high << 24 | self.low

    @property
    def style(self) -> str:
        """The name of its colour."""
        r, g, b = self._rgb
        return f"colour=#{r:02x}{g:02x}{b:02x}"


def row_of(number: Number, row: int, columns: int) -> str:
    """Return the cells of one row."""
    end = MARKS[number.high]
    return "".join(PICTURE + MARKS[row] + MARKS[column] + end for column in range(columns))


def sent(number: int, png: bytes, columns: int = 0, rows: int = 0) -> Iterator[str]:
    """Yield the commands that send a picture. With a size, it is visible where its placeholders
    are; else it is only stored, until it is placed."""
    does = f"a=T,U=1,c={columns},r={rows}" if columns else "a=t"
    head = f"{does},f=100,t=d,i={number},q=2,"
    text = b64encode(png).decode("ascii")
    for at in range(0, len(text), CHUNK):
        more = int(at + CHUNK < len(text))
        yield f"\x1b_G{head}m={more};{text[at : at + CHUNK]}\x1b\\"
        head = "q=2,"


def placed(number: int, columns: int, rows: int) -> str:
    """Return the command that shows a picture at the cursor, which stays."""
    return f"\x1b_Ga=p,i={number},p=1,c={columns},r={rows},C=1,q=2\x1b\\"


CUT = "\x1b_Gm=0,q=2;\x1b\\"
"""The end of a picture of which the rest is not sent."""


def deleted(number: int) -> str:
    """Return the command that deletes a picture, also from the terminal's memory."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"
