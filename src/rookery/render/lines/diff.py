"""A diff as lines: line numbers, the changed words marked, in one column or two."""

from itertools import pairwise

from rookery.render.code import language_of
from rookery.render.diff import GAP, Marks, Part, Row, pairs, rows_of
from rookery.render.lines.texts import highlighted
from rookery.render.lines.view import View
from rookery.render.runs import Line, clean_line, count, fold, prefixed, styled, width_of_line

SPLIT_FROM = 100
"""Columns from which on a diff may have two columns."""
LONGEST_ROW = 2000
"""Characters of a row."""


def rendered(part: Part, view: View, most: int) -> list[Line]:
    """Return a diff as about `most` lines at most; a last line says how many more there are."""
    lines = body(part, view, most)
    if (more := len(rows_of(part)) - most) > 0:
        lines.append([(f"… {count(more, 'more line')}", "soft")])
    if part.get("cut"):
        lines.append([("… the rest is in the file", "soft")])
    return lines


def body(part: Part, view: View, most: int) -> list[Line]:
    """Return the first `most` rows."""
    rows = rows_of(part)
    path = part.get("path")
    language = language_of(path) if isinstance(path, str) and not view.source else ""
    in_two = view.split and view.width >= SPLIT_FROM
    draw = _in_two if in_two else _in_one
    return draw(rows[:most], number_width(rows), language, view)


def number_width(rows: tuple[Row, ...]) -> int:
    """Return the columns of the largest number; 0 if there are none."""
    largest = max((row.old or row.new or 0 for row in rows), default=0)
    return len(str(largest)) if largest else 0


def _in_one(rows: tuple[Row, ...], wide: int, language: str, view: View) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        if row.sign == GAP:
            lines.append([("⋯".rjust(wide), "faint")])
        else:
            lines += _side(row, row.number, wide, language, view)
    return lines


def _in_two(rows: tuple[Row, ...], wide: int, language: str, view: View) -> list[Line]:
    half = view._replace(width=(view.width - 3) // 2)
    empty: Line = [(" " * half.width, "")]
    lines: list[Line] = []
    for old, new in pairs(rows):
        if old is not None and old.sign == GAP:
            lines.append([("⋯".rjust(wide), "faint")])
            continue
        left = _side(old, old.old if old else None, wide, language, half)
        right = _side(new, new.new if new else None, wide, language, half)
        for place in range(max(len(left), len(right))):
            one = left[place] if place < len(left) else empty
            other = right[place] if place < len(right) else empty
            lines.append([*one, (" │ ", "line"), *other])
    return lines


def _side(row: Row | None, number: int | None, wide: int, language: str, view: View) -> list[Line]:
    """Return one side of a row; a long line continues below."""
    if row is None:
        return []
    numbered = [(f"{number or '':>{wide}} ", "faint")] if wide else []
    lead: Line = [*numbered, (f"{row.sign} ", ink(row))]
    if view.width - width_of_line(lead) < 6:
        lead = [(row.sign, ink(row))]
    taken, paper = width_of_line(lead), ground(row)
    room = max(view.width - taken, 1)
    body = fold(_drawn(row, language, view), room)
    if not view.source:
        body = [_filled(line, room, paper) for line in body]
    return prefixed(body, lead, [(" " * taken, "")])


def ink(row: Row) -> str:
    return {"+": "done", "-": "failed"}.get(row.sign, "faint")


def ground(row: Row) -> str:
    return {"+": "added", "-": "removed"}.get(row.sign, "")


def _drawn(row: Row, language: str, view: View) -> Line:
    """Return the code in its colours, on the background of its sign; the changed words in plain
    ink, which is legible on their stronger background."""
    text, paper = view.text(row.text, LONGEST_ROW), ground(row)
    runs = highlighted(text, language)[0] if text else []
    word = styled("ink", paper and f"{paper}-word")
    drawn: Line = []
    at = 0
    for piece, style in runs:
        for begin, end, marked in _cuts(at, at + len(piece), row.marks):
            drawn.append((text[begin:end], word if marked else styled(style, paper)))
        at += len(piece)
    return drawn


def _cuts(begin: int, end: int, marks: Marks) -> list[tuple[int, int, bool]]:
    edges = sorted({begin, end, *(e for mark in marks for e in mark if begin < e < end)})
    return [(a, b, any(first <= a < last for first, last in marks)) for a, b in pairwise(edges)]


def _filled(line: Line, width: int, ground: str) -> Line:
    return [*line, (" " * max(0, width - width_of_line(line)), ground)]


def title(part: Part) -> str:
    return clean_line(str(part.get("path") or "a file"))
