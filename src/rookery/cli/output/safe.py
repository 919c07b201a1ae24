"""Making text from agents safe to print: nothing in it can move the cursor, hide a word or crash
us.

Every control character is shown as a sign, not left out. Only the output of commands is different:
escape sequences are common in it and are removed."""

import re

from rookery.core.json.safe_text import clean, clean_line
from rookery.render.runs import cut
from rookery.render.runs import width_of as columns

__all__ = ["RESET", "clean", "clean_line", "clean_output", "columns", "cut", "pad"]

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, and all that moves the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # strings for the terminal itself
    r"|\x1b[ -/]*[0-~]"
)
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
RESET = "\x1b[0m"


def clean_output(text: str, *, colour: bool) -> list[str]:
    """Return the lines a terminal would show at the end; all else as it is, for pipes."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if colour and _COLOUR.fullmatch(match[0]) else ""

    text = _SEQUENCE.sub(kept, text.replace("\r\n", "\n")).replace("\b", "")
    return [_output_line(line, colour) for line in text.split("\n")]


def _output_line(line: str, colour: bool) -> str:
    # Of a progress bar, the last state counts.
    line = next((part for part in reversed(line.split("\r")) if part), "")
    if not colour or "\x1b" not in line:
        return clean(line)
    pieces = _COLOUR.split(line)  # text and colours alternate
    safe = [piece if place % 2 else clean(piece) for place, piece in enumerate(pieces)]
    return "".join(safe) + (RESET if len(pieces) > 1 else "")


def pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))
