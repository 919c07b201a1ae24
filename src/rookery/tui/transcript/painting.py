"""An item as strips: its lines, indent, and the empty lines above."""

from textual.strip import Strip

from rookery.render.lines import block as drawer
from rookery.render.lines.view import View
from rookery.render.runs import Line, prefixed
from rookery.render.stretches import Start
from rookery.tui.look.palette import Look
from rookery.tui.transcript.item import Item

WIDEST = 140
"""Columns of a card at most."""


def painted(item: Item, starts: tuple[Start, ...], view: View, look: Look) -> list[Strip]:
    indent = 2 * item.depth if view.width > 4 * item.depth + 8 else 0
    inner = view._replace(width=max(1, min(view.width, WIDEST) - indent))
    lines = _lines(item, starts, inner)
    if indent:
        lines = prefixed(lines, [("│ " * item.depth, "line")])
    return item.strips([*([] for _ in range(item.gap)), *lines], look)


def _lines(item: Item, starts: tuple[Start, ...], view: View) -> list[Line]:
    if item.members:
        return [drawer.row_line(item.members, view)]
    if item.block["role"] == "answer":
        return drawer.stretch_of(item.block, starts, item.number, view)
    return drawer.rendered(item.block, item.terminals, view)
