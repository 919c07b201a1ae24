"""Which pictures the terminal can draw, by its own answers.

1. The questions are sent when the first picture is to be shown: kitty's query, the terminal's
   name (XTVERSION), the size of a cell, and last one that every terminal answers (DA1). Answers
   come in order, so nothing more is awaited once DA1 has come.
2. A terminal that prints what it does not understand is not asked, nor is one that stands between
   us and another: tmux takes kitty's query for a title, and screen for a message.
3. A picture in the transcript must scroll with its text. Unicode placeholders do, and are cells
   like any other; kitty and Ghostty support them. A terminal that answers kitty's query but does
   not support them, iTerm2, and sixel draw in a window of their own."""

import fcntl
import re
import struct
import termios
from collections.abc import Iterable, Mapping
from typing import NamedTuple

QUERY = 31
"""The number of the picture in kitty's query, which is not kept."""
QUESTIONS = f"\x1b[>0q\x1b_Gi={QUERY},s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t\x1b[c"
ANSWER_TIMEOUT = 5.0
"""Seconds in which the terminal answers; it may still do so later."""
MUTE = ("dumb", "linux", "unknown", "screen", "tmux", "vt", "emacs", "eterm")
BETWEEN = ("TMUX", "STY", "ZELLIJ", "INSIDE_EMACS")
PLACEHOLDERS = ("kitty", "ghostty")
ITERM2 = ("iterm2", "wezterm", "mintty")
USUAL = (8, 16)
"""Pixels of a cell, where only its shape matters."""

_NAME = re.compile(r"\x1bP>\|([^\x1b]*)")
_KITTY = re.compile(rf"\x1b_Gi={QUERY}[^;]*;OK")
_CELL = re.compile(r"\x1b\[6;(\d{1,4});(\d{1,4})t")
_LAST = re.compile(r"\x1b\[\?([\d;]*)c")


class Ability(NamedTuple):
    how: str = ""
    """`kitty`, `iterm2`, `sixel`; "": it draws nothing."""
    inline: bool = False
    """Whether a picture can stand between lines of text."""
    cell: tuple[int, int] = USUAL
    """Pixels: width, height."""


def can_be_asked(environment: Mapping[str, str]) -> bool:
    if any(environment.get(name) for name in BETWEEN):
        return False
    if environment.get("TERM_PROGRAM") == "Apple_Terminal":
        return False
    kind = environment.get("TERM", "")
    return bool(kind) and not kind.startswith(MUTE)


def is_last(answer: str) -> bool:
    return bool(_LAST.fullmatch(answer))


def ability(
    answers: Iterable[str], environment: Mapping[str, str], cell: tuple[int, int] | None = None
) -> Ability:
    """Return what a terminal can draw, by its answers. `cell`: a cell's size by the system."""
    text = "".join(answers)
    asked = _CELL.search(text)
    reported = (int(asked[2]), int(asked[1])) if asked else (0, 0)
    known = reported if all(reported) else cell
    name = match[1].casefold() if (match := _NAME.search(text)) else ""
    draws = bool(_KITTY.search(text))
    if draws and name.startswith(PLACEHOLDERS):
        return Ability("kitty", True, known or USUAL)
    if name.startswith(ITERM2) or (not name and _is_iterm2(environment)):
        return Ability("iterm2", False, known or USUAL)
    if draws:
        return Ability("kitty", False, known or USUAL)
    last = _LAST.search(text)
    if last and "4" in last[1].split(";") and known:
        return Ability("sixel", False, known)
    return Ability()


def _is_iterm2(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal is iTerm2. SSH passes LC_TERMINAL on."""
    names = (environment.get("LC_TERMINAL", ""), environment.get("TERM_PROGRAM", ""))
    return any(name.casefold().startswith(("iterm", *ITERM2)) for name in names)


def cell_of(file: int) -> tuple[int, int] | None:
    """Return the pixels of a cell as the system knows them; None if it does not."""
    try:
        packed = fcntl.ioctl(file, termios.TIOCGWINSZ, b"\0" * 8)
    except OSError:
        return None
    rows, columns, width, height = struct.unpack("HHHH", packed)
    cell = (width // columns, height // rows) if rows and columns else (0, 0)
    return cell if all(cell) else None


def fitted(
    width: int, height: int, cell: tuple[int, int], columns: int, rows: int
) -> tuple[int, int]:
    """Return a picture's columns and rows, its own size or what fits, rounded up to cells."""
    wide, high = cell
    scale = min(1.0, columns * wide / width, rows * high / height)
    across, down = -(-width * scale // wide), -(-height * scale // high)
    return max(1, min(columns, int(across))), max(1, min(rows, int(down)))
