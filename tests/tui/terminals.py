"""A terminal that draws pictures, played by the test: it answers as kitty, iTerm2 or a sixel
terminal does, keeps the cells that are written, and takes the pictures apart again."""

import os
import re
import select
import termios
import time
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from typing import Any, NamedTuple

from PIL import Image
from rich.cells import cell_len

from rookery.tui.pictures import kitty
from tests.cli.driving import SECONDS, Terminal

_TOKEN = re.compile(
    r"\x1b_(?P<apc>[^\x1b]*)\x1b\\"
    r"|\x1bP(?P<dcs>[^\x1b]*)\x1b\\"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])"
    r"|(?P<esc>\x1b[78=>])"
    r"|(?P<text>[^\x1b])",
    re.DOTALL,
)
_FOREGROUND = re.compile(r"38;(?:2;(\d+);(\d+);(\d+)|5;(\d+))")


class Cell(NamedTuple):
    text: str
    colour: int
    """As kitty reads it: the lower bytes of a picture's number."""


class Screen:
    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}
        self.row = self.column = self.colour = 0
        self._saved = (0, 0)
        self._rest = ""
        self.graphics: list[tuple[dict[str, str], str]] = []
        """Kitty's commands: keys and payload."""
        self.drawn: list[tuple[int, int, str]] = []
        """Other sequences that draw, and the cell that they begin at."""
        self.asked: list[str] = []
        self.everything = ""

    def feed(self, text: str) -> None:
        self.everything += text
        text, at = self._rest + text, 0
        while (found := _TOKEN.match(text, at)) is not None:
            self._take(found)
            at = found.end()
        self._rest = text[at:]

    def _take(self, found: re.Match[str]) -> None:
        kind, said = str(found.lastgroup), found[str(found.lastgroup)]
        match kind:
            case "apc":
                keys, _, payload = said.removeprefix("G").partition(";")
                pairs = dict(each.split("=", 1) for each in keys.split(",") if each)
                self.graphics.append((pairs, payload))
                self.asked += ["kitty"] if pairs.get("a") == "q" else []
            case "dcs":
                self.drawn.append((self.row, self.column, said))
            case "csi":
                self._control(said)
            case "esc" if said == "\x1b7":
                self._saved = (self.row, self.column)
            case "esc" if said == "\x1b8":
                self.row, self.column = self._saved
            case "osc" if said.startswith("1337;"):
                self.drawn.append((self.row, self.column, said))
            case "text":
                self._print(said)

    def _control(self, said: str) -> None:
        if said[-1] == "H":
            row, _, column = said[:-1].partition(";")
            self.row, self.column = int(row or 1) - 1, int(column or 1) - 1
        elif said[-1] == "m":
            if given := _FOREGROUND.search(said):
                red, green, blue, index = given.groups()
                parts = [int(each or 0) for each in (red, green, blue)]
                self.colour = int(index) if index else parts[0] << 16 | parts[1] << 8 | parts[2]
            elif said == "m" or said.startswith("0"):
                self.colour = 0
        elif said in ("c", "16t", ">0q", ">q"):
            self.asked.append(said)

    def _print(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
        elif letter in kitty.MARKS or not (wide := cell_len(letter)):
            before = (self.row, self.column - 1)
            known = self.cells.get(before)
            if known is not None:
                self.cells[before] = known._replace(text=known.text + letter)
        else:
            self.cells[self.row, self.column] = Cell(letter, self.colour)
            for more in range(1, wide):
                self.cells[self.row, self.column + more] = Cell("", self.colour)
            self.column += wide

    def line(self, row: int) -> str:
        return "".join(self.cells.get((row, column), Cell(" ", 0)).text for column in range(200))

    @property
    def text(self) -> str:
        return "\n".join(self.line(row).rstrip() for row in range(60))

    # --- what kitty would show -----------------------------------------------------------------

    def pictures(self) -> dict[int, Image.Image]:
        """Those that the terminal has whole, by number."""
        found: dict[int, bytes] = {}
        ended: set[int] = set()
        number = 0
        for keys, payload in self.graphics:
            action = keys.get("a", "")
            if action in ("t", "T"):
                number = int(keys["i"])
                found[number] = b""
            elif action == "d":
                found.pop(int(keys["i"]), None)
            if action in ("t", "T", "") and number in found:
                found[number] += b64decode(payload)
                ended |= {number} if keys.get("m") == "0" else set()
        return {each: Image.open(BytesIO(found[each])) for each in found if each in ended}

    def places(self) -> dict[int, dict[tuple[int, int], tuple[int, int]]]:
        """By a picture's number: the cells of the screen, and of the picture, that they show."""
        found: dict[int, dict[tuple[int, int], tuple[int, int]]] = {}
        for place, cell in self.cells.items():
            if cell.text.startswith("\U0010eeee") and len(cell.text) == 4:
                row, column, high = (kitty.MARKS.index(each) for each in cell.text[1:])
                found.setdefault(high << 24 | cell.colour, {})[place] = (row, column)
        return found


class Player:
    """What one kind of terminal answers."""

    def __init__(self, name: str = "", *, kitty: bool = False, sixel: bool = False) -> None:
        self._name, self._kitty, self._sixel = name, kitty, sixel

    def answer(self, asked: str) -> str:
        match asked:
            case ">0q":
                return f"\x1bP>|{self._name}\x1b\\" if self._name else ""
            case "kitty":
                return "\x1b_Gi=31;OK\x1b\\" if self._kitty else ""
            case "16t":
                return "\x1b[6;20;10t"
        return "\x1b[?62;4;22c" if self._sixel else "\x1b[?62;22c"


KITTY = Player("kitty(0.41.0)", kitty=True)
ITERM2 = Player("iTerm2 3.5.2")
XTERM = Player("XTerm(390)", sixel=True)
PLAIN = Player("VTE(7600)")


FOREIGN = (
    *("TMUX", "STY", "ZELLIJ", "INSIDE_EMACS", "TERM_PROGRAM", "LC_TERMINAL", "NO_COLOR"),
    *("COLUMNS", "LINES"),
)


class Played(Terminal):
    """The program in it. `player`: None answers nothing at all."""

    def __init__(
        self, home: str, player: Player | None, *arguments: str, **environment: str
    ) -> None:
        given = {"ROOKERY_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        for name in FOREIGN:  # of the terminal that runs the tests
            os.environ.pop(name, None)
        super().__init__(*arguments, **{**given, **environment})
        self._player = player
        self._answered = 0
        self.shown = Screen()

    def until(self, is_so: Callable[[Screen], Any], what: str = "") -> Screen:
        """Take what comes, and answer it, until it is so."""
        end = time.monotonic() + SECONDS
        while not is_so(self.shown):
            assert time.monotonic() < end, f"{what} did not come:\n{self.shown.text}"
            self.take(1.0)
        return self.shown

    def take(self, seconds: float) -> bool:
        """Whether something came. A terminal that ended gives nothing more."""
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.main, 1 << 16)
        except OSError:
            return False
        self.shown.feed(self._decode(data))
        while self._player is not None and self._answered < len(self.shown.asked):
            answer = self._player.answer(self.shown.asked[self._answered])
            self._answered += 1
            self.type(answer)
        return bool(data)

    _cut = b""

    def _decode(self, data: bytes) -> str:
        """A letter may come in two pieces."""
        data = self._cut + data
        end = len(data)
        while end and len(data) - end < 4 and data[end - 1] & 0xC0 == 0x80:
            end -= 1
        if end and data[end - 1] >= 0xC0:
            wide = 2 if data[end - 1] < 0xE0 else 3 if data[end - 1] < 0xF0 else 4
            whole = len(data) - (end - 1) >= wide
            end = len(data) if whole else end - 1
        else:
            end = len(data)
        self._cut = data[end:]
        return data[:end].decode()

    def resize(self, rows: int, columns: int) -> None:
        termios.tcsetwinsize(self.main, (rows, columns))

    def rest(self) -> Screen:
        """All that comes until the program ends."""
        while self.process.poll() is None or select.select([self.main], [], [], 0.2)[0]:
            if not self.take(0.2) and self.process.poll() is not None:
                break
        return self.shown


def of_sixels(text: str) -> Image.Image:
    """A picture of a sequence's content."""
    head = re.match(r'[\d;]*q"1;1;(\d+);(\d+)', text)
    assert head is not None, text[:40]
    image = Image.new("RGB", (int(head[1]), int(head[2])), (1, 2, 3))
    palette: dict[int, tuple[int, int, int]] = {}
    x = top = 0
    colour = (0, 0, 0)
    for found in re.finditer(
        r"#(?P<new>\d+);2;(\d+);(\d+);(\d+)|#(?P<take>\d+)|!(?P<times>\d+)(?P<run>.)"
        r"|(?P<return>\$)|(?P<next>-)|(?P<one>[?-~])",
        text[head.end() :],
    ):
        if found["new"]:
            red, green, blue = (round(int(found[at]) * 2.55) for at in (2, 3, 4))
            palette[int(found["new"])] = (red, green, blue)
        elif found["take"]:
            colour = palette[int(found["take"])]
        elif found["return"]:
            x = 0
        elif found["next"]:
            x, top = 0, top + 6
        else:
            bits = ord(found["run"] or found["one"]) - 63
            times = int(found["times"] or 1)
            for at in range(x, x + times):
                for bit in range(6):
                    if bits >> bit & 1:
                        image.putpixel((at, top + bit), colour)
            x += times
    return image
