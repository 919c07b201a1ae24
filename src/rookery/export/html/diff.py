"""Rendering a diff as a table: line numbers of both sides, the sign, and the changed words
marked."""

from itertools import pairwise
from typing import Any

from rookery.core.json.safe_text import count
from rookery.export.html.code import token_class
from rookery.export.html.text import esc, tag
from rookery.render import code
from rookery.render.code import Tokens
from rookery.render.diff import GAP, Row, rows_of

MAX_ROWS = 2_000
"""How many rows of one change are shown."""

KINDS = {"+": "add", "-": "cut", " ": ""}


def rendered(part: dict[str, Any]) -> str:
    """Render a part that is a diff; it may be damaged."""
    rows = rows_of(part)
    if not rows:
        return '<p class="soft">no change to show</p>'
    path = part.get("path")
    language = code.language_of(path if isinstance(path, str) else "")
    tokens = code.tokens("\n".join(row.text for row in rows[:MAX_ROWS]), language)
    lines = [_row(row, line) for row, line in zip(rows[:MAX_ROWS], tokens, strict=False)]
    more = len(rows) - MAX_ROWS
    if more > 0:
        lines.append(f'<tr class="gap"><td colspan="4">… {count(more, "more line")}</td></tr>')
    return f'<div class="diff" tabindex="0"><table>{"".join(lines)}</table></div>'


def _row(row: Row, tokens: Tokens) -> str:
    if row.sign == GAP:
        return '<tr class="gap"><td colspan="4">⋯</td></tr>'
    numbers = "".join(f"<td>{'' if number is None else number}</td>" for number in row[1:3])
    sign = {"-": "−"}.get(row.sign, row.sign).strip()
    text = marked(tokens, row)
    kind = KINDS.get(row.sign, "")
    opening = f'<tr class="{kind}">' if kind else "<tr>"
    return f"{opening}{numbers}<td>{sign}</td><td>{text}</td></tr>"


def marked(tokens: Tokens, row: Row) -> str:
    """Render a line's tokens, split where a changed stretch begins and ends."""
    if "".join(text for text, _ in tokens) != row.text:
        tokens = [(row.text, "")]
    edges = sorted({edge for mark in row.marks for edge in mark})
    html, at = "", 0
    for text, kind in tokens:
        end = at + len(text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for first, last in pairwise(cuts):
            piece = esc(row.text[first:last])
            piece = tag("span", piece, token_class(kind)) if kind else piece
            marked = any(begin <= first < stop for begin, stop in row.marks)
            html += tag("mark", piece) if marked else piece
        at = end
    return html
