"""An item as strips: its lines, indent, and the empty lines above."""

from textual.strip import Strip

from rookery.render.stretches import Start, stretch
from rookery.tui.look import block as looks
from rookery.tui.look import markdown
from rookery.tui.look.card import words_of
from rookery.tui.look.runs import Line, count, prefixed, trimmed
from rookery.tui.look.view import View
from rookery.tui.transcript.item import Item

WIDEST = 140
"""Columns of a card at most."""

NOUNS = {"read": "read", "search": "search", "fetch": "fetch", "think": "thought"}
PLURALS = {"read": "reads", "search": "searches", "fetch": "fetches", "think": "thoughts"}


def painted(item: Item, starts: tuple[Start, ...], view: View) -> list[Strip]:
    indent = 2 * item.depth if view.width > 4 * item.depth + 8 else 0
    inner = view._replace(width=max(1, min(view.width, WIDEST) - indent))
    lines = _lines(item, starts, inner)
    if indent:
        lines = prefixed(lines, [("│ " * item.depth, view.look.line)])
    return item.strips([*([] for _ in range(item.gap)), *lines])


def _lines(item: Item, starts: tuple[Start, ...], view: View) -> list[Line]:
    if item.members:
        return [_row(item, view)]
    if item.block["role"] == "answer":
        return _stretch(item, starts, view)
    return looks.rendered(item.block, item.terminals, view)


def _stretch(item: Item, starts: tuple[Start, ...], view: View) -> list[Line]:
    text = stretch(item.block["text"], starts, item.number)
    lines = markdown.rendered(text, view.prose, view.look, view.width) if text.strip() else []
    last = item.number == len(starts) - 1
    if not last and not starts[item.number + 1].fence and text.endswith("\n\n"):
        lines.append([])
    if last and item.block["parts"]:
        bare = {**item.block, "text": ""}
        lines += looks.rendered(bare, [], view)
    return lines


def _row(item: Item, view: View) -> Line:
    """Return the line of a folded row: `✓ 4 reads, 2 searches · app.py, main.py, …`"""
    look = view.look
    kinds: dict[str, int] = {}
    for member in item.members:
        kind = member.get("kind", "")
        kinds[kind] = kinds.get(kind, 0) + 1
    summary = ", ".join(
        f"{number} {(NOUNS if number == 1 else PLURALS).get(kind, kind)}"
        for kind, number in kinds.items()
    )
    things = ", ".join(words_of(member, view.cwd)[1] for member in item.members[:12])
    sign = "▾" if view.opened else "▸"
    line: Line = [("✓ ", look.done), (summary or count(len(item.members), "call"), look.soft)]
    rest: Line = [] if view.opened else [(f" · {things}", look.faint)]
    return trimmed([*line, (f" {sign}", look.faint), *rest], view.width)
