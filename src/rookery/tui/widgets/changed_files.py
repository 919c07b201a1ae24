"""The files that a session changed, folded from the calls that are loaded: call by call, so that
news cost as much as they bring."""

from typing import NamedTuple

from rookery.core.blocks import Block, Op, captions
from rookery.core.json import lenient
from rookery.render.diff import Part, changed
from rookery.tui.transcript.window import Window

REJECTED = frozenset({"failed", "cancelled", "rejected", "interrupted"})
"""Calls that changed nothing."""


class Change(NamedTuple):
    """One diff of a call."""

    call: str
    path: str
    plus: int
    minus: int
    part: Part


class File(NamedTuple):
    path: str
    plus: int
    minus: int
    changes: list[Change]
    """The newest last."""


class ChangedFiles:
    def __init__(self) -> None:
        self._of: dict[str, list[Change]] = {}
        """By call."""

    def load(self, window: Window) -> None:
        """Pages were loaded: take them all."""
        self._of = {}
        for block in window.blocks():
            self._take(block)

    def heed(self, window: Window, ops: list[Op]) -> bool:
        """Whether news changed anything."""
        moved = False
        for op in ops:
            if op[0] == "append":
                continue
            name = op[1]["id"] if op[0] == "put" else op[1]
            block = window.block(name)
            if block is not None and block["role"] == "tool":
                moved = self._take(block) or moved
        return moved

    def _take(self, block: Block) -> bool:
        before = self._of.get(block["id"])
        found: list[Change] = []
        if block["role"] == "tool" and captions.is_over(block) and block["status"] not in REJECTED:
            for part in captions.diffs(block):
                plus, minus = changed(part)
                path = lenient.text(part, "path")
                found.append(Change(block["id"], path, plus, minus, part))
        if found:
            self._of[block["id"]] = found
        else:
            self._of.pop(block["id"], None)
        return bool(found or before)

    def files(self) -> list[File]:
        """In the order in which they were changed first."""
        found: dict[str, list[Change]] = {}
        for changes in self._of.values():
            for each in changes:
                found.setdefault(each.path, []).append(each)
        return [
            File(path, sum(c.plus for c in changes), sum(c.minus for c in changes), changes)
            for path, changes in found.items()
        ]
