"""The items of the transcript: pieces of blocks, each with its lines."""

from collections.abc import Sequence
from typing import Any

from textual.strip import Strip

from rookery.core import blocks
from rookery.core.blocks import Block
from rookery.core.json import Json
from rookery.render.runs import Line
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import painted, strip_of

CHANGE = 20
"""Lines of a change at most, until they are counted."""


def _rows(change: dict[str, Any]) -> int:
    return str(change.get("old") or "").count("\n") + str(change.get("new") or "").count("\n")


class Item:
    """A block, a stretch of a long one, or a row of quiet calls folded into one.

    `lines` is None until it is painted at the present width; `height` is a guess until then.
    """

    __slots__ = (
        *("before", "block", "depth", "gap", "height", "key"),
        *("lines", "look", "members", "number", "ready", "runs", "terminals"),
    )

    def __init__(self, block: Block, number: int = 0, depth: int = 0) -> None:
        self.block = block
        self.number = number
        """Which stretch of the block's text."""
        self.depth = depth
        self.key = f"{block['id']}#{number}"
        self.gap = 0
        """Empty lines above."""
        self.terminals: list[Block] = []
        self.members: list[Block] = []
        """The calls of a folded row."""
        self.lines: list[Strip] | None = None
        self.ready: dict[int, tuple[object, Strip]] = {}
        """Lines as painted, each with what it depends on."""
        self.before: list[Strip] = []
        self.runs: list[Line] = []
        """What the lines were made of."""
        self.look: Look | None = None
        """How they were painted."""
        self.height = 1

    @property
    def name(self) -> str:
        """The block's id; a folded row has that of its first call, and a star."""
        return f"{self.block['id']}*" if self.members else str(self.block["id"])

    def guessed(self, width: int) -> int:
        """Return the height to assume until it is painted."""
        if self.block["role"] == "tool" and not self.members:
            return self.gap + 1 + min(CHANGE, sum(map(_rows, blocks.captions.diffs(self.block))))
        if self.block["role"] != "answer":
            return self.gap + 1
        wide = max(1, min(width, 76))
        return self.gap + 1 + min(len(self.block["text"]), 1600) // wide

    def forget(self) -> None:
        """Have it painted again; its height stays as a guess."""
        if self.lines is not None:
            self.before = self.lines
        self.lines = None

    def let_go(self) -> None:
        """Free its lines: it is far out of sight."""
        self.lines, self.before, self.runs = None, [], []
        self.ready.clear()

    def strips(self, lines: list[Line], look: Look) -> list[Strip]:
        """Return lines as strips, reusing those of unchanged lines."""
        known = self.runs if len(self.runs) == len(self.before) and self.look is look else []
        self.runs, self.look = lines, look
        return [
            self.before[at]
            if at < len(known) and known[at] == line
            else strip_of(painted(line, look))
            for at, line in enumerate(lines)
        ]

    def paint(self, lines: list[Strip]) -> None:
        """Take painted lines. Unchanged ones stay ready: of a growing text, only the end is new."""
        for number, line in enumerate(lines):
            if number >= len(self.before) or self.before[number] is not line:
                self.ready.pop(number, None)
        self.lines, self.before = lines, []
        self.height = len(lines)


def offered(block: Block | None) -> Sequence[Json]:
    """Return the actions of a block."""
    return blocks.captions.actions_of(block) if block else ()
