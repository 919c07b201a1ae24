"""Rendering the blocks of a page as HTML, in order: nested ones inside, quiet calls folded into one
line."""

from collections.abc import Iterator

from rookery.core.blocks.document import Block
from rookery.export.html import block as looks
from rookery.export.html import card
from rookery.export.html.text import esc_line, tag
from rookery.export.html.view import View
from rookery.render.nesting import DEEPEST, FEWEST, Families, families_of, rows, says_all, tops


def rendered(blocks: dict[str, Block], view: View) -> Iterator[str]:
    """Yield a piece for each top-level block, or for each row of quiet ones."""
    yield from _walk(tops(blocks), 0, families_of(blocks), view)


def _walk(blocks: list[Block], depth: int, families: Families, view: View) -> Iterator[str]:
    for row in rows(blocks, families.children):
        pieces = (_one(block, depth, families, view) for block in row)
        yield _folded(row, "".join(pieces)) if len(row) >= FEWEST else "".join(pieces)


def _folded(row: list[Block], inside: str) -> str:
    name = esc_line(str(row[0]["id"]), 100)
    head = f"<summary>{card.row_line(row)}</summary>"
    body = tag("div", inside, "members")
    return f'<div class="block row" id="b{name}*"><details>{head}{body}</details></div>\n'


def _one(block: Block, depth: int, families: Families, view: View) -> str:
    below = families.children.get(block["id"], [])
    asks = [each for each in below if each["role"] == "ask"]
    rest = [each for each in below if each["role"] != "ask"]
    more = "".join(looks.rendered(ask, view) for ask in asks)
    if rest and depth < DEEPEST:
        more += tag("div", "".join(_walk(rest, depth + 1, families, view)), "below")
    elif rest:  # no deeper: a column of a few letters shows nothing
        more += "".join(_walk(rest, depth, families, view))
    if any(map(says_all, asks)):
        return more
    return looks.rendered(block, view, families.terminals.get(block["id"], []), more)
