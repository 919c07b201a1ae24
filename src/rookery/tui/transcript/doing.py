"""What a running session does now, in a few words."""

from itertools import islice
from typing import NamedTuple

from rookery.core.blocks import Block, captions
from rookery.tui.look.runs import clean_line
from rookery.tui.transcript.window import Window

NEAR = 40
"""The newest blocks among which a running call is looked for."""
END = 400
"""Characters of a thought's end that are read."""


class Doing(NamedTuple):
    words: str = ""
    grows: bool = False
    """At its end: there is what matters if it has to be cut."""


IDLE = Doing()


def doing(window: Window) -> Doing:
    """The newest call that runs, or the end of a thought that streams."""
    if window.header["state"] != "running" or not window.pages:
        return IDLE
    newest = islice(reversed(window.pages[-1].blocks.values()), NEAR)
    for place, block in enumerate(newest):
        match block["role"]:
            case "thought" if place == 0:
                return Doing(_last_line(block["text"]), grows=True)
            case "answer" if place == 0:
                return Doing("writing")
            case "tool" | "terminal" if block["status"] == "running":
                return Doing(_call(block, str(window.header["cwd"])))
    return IDLE


def _call(block: Block, cwd: str) -> str:
    return " ".join(filter(None, captions.call_words(block, cwd, clean_line)))


def _last_line(text: str) -> str:
    lines = clean_line(text[-END:].rstrip().rpartition("\n")[2]).strip()
    return lines.strip("*_# ") or "thinking"
