"""A diff as lines: line numbers, the changed words marked, in one column or two."""

from itertools import pairwise

from rich.style import Style

from rookery.render.code import language_of
from rookery.render.diff import GAP, Marks, Part, Row, pairs, rows_of
from rookery.tui.look.colours import highlighted
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, clean_line, count, fold, prefixed, width_of_line

SPLIT_FROM = 100
"""Columns from which on a diff may have two columns."""


def rendered(part: Part, width: int, look: Look, *, split: bool, most: int) -> list[Line]:
    """Return a diff as about `most` lines at most; a last line says how many more there are."""
    lines = body(part, width, look, split=split, most=most)
    if (more := len(rows_of(part)) - most) > 0:
        lines.append([(f"… {count(more, 'more line')}", look.soft)])
    if part.get("cut"):
        lines.append([("… the rest is in the file", look.soft)])
    return lines


def body(part: Part, width: int, look: Look, *, split: bool, most: int) -> list[Line]:
    """Return the first `most` rows."""
    rows = rows_of(part)
    path = part.get("path")
    language = language_of(path) if isinstance(path, str) else ""
    in_two = split and width >= SPLIT_FROM
    paint = _in_two if in_two else _in_one
    return paint(rows[:most], width, number_width(rows), language, look)


def number_width(rows: tuple[Row, ...]) -> int:
    """Return the columns of the largest number; 0 if there are none."""
    largest = max((row.old or row.new or 0 for row in rows), default=0)
    return len(str(largest)) if largest else 0


def _in_one(rows: tuple[Row, ...], width: int, wide: int, language: str, look: Look) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        if row.sign == GAP:
            lines.append([("⋯".rjust(wide), look.faint)])
        else:
            lines += _side(row, row.number, width, wide, language, look)
    return lines


def _in_two(rows: tuple[Row, ...], width: int, wide: int, language: str, look: Look) -> list[Line]:
    half = (width - 3) // 2
    lines: list[Line] = []
    for old, new in pairs(rows):
        if old is not None and old.sign == GAP:
            lines.append([("⋯".rjust(wide), look.faint)])
            continue
        left = _side(old, old.old if old else None, half, wide, language, look)
        right = _side(new, new.new if new else None, half, wide, language, look)
        for place in range(max(len(left), len(right))):
            one = left[place] if place < len(left) else [(" " * half, look.plain)]
            other = right[place] if place < len(right) else [(" " * half, look.plain)]
            lines.append([*one, (" │ ", look.line), *other])
    return lines


def _side(
    row: Row | None, number: int | None, width: int, wide: int, language: str, look: Look
) -> list[Line]:
    """Return one side of a row; a long line continues below."""
    if row is None:
        return []
    numbered = [(f"{number or '':>{wide}} ", look.faint)] if wide else []
    lead: Line = [*numbered, (f"{row.sign} ", ink(row, look))]
    if width - width_of_line(lead) < 6:
        lead = [(row.sign, ink(row, look))]
    taken, paper = width_of_line(lead), ground(row, look)
    room = max(width - taken, 1)
    body = [_filled(line, room, paper) for line in fold(_painted(row, language, look), room)]
    return prefixed(body, lead, [(" " * taken, look.plain)])


def ink(row: Row, look: Look) -> Style:
    return {"+": look.done, "-": look.failed}.get(row.sign, look.faint)


def ground(row: Row, look: Look) -> Style:
    grounds = look.grounds
    return {"+": grounds.added, "-": grounds.removed}.get(row.sign, look.plain)


def _painted(row: Row, language: str, look: Look) -> Line:
    """Return the code in its colours, on the background of its sign; the changed words in plain
    ink, which is legible on their stronger background."""
    text = row.text[:2000]
    runs = highlighted(text, language, look)[0] if text else []
    grounds = look.grounds
    strong = {"+": grounds.added_word, "-": grounds.removed_word}.get(row.sign, look.plain)
    word = look.ink + strong
    paper = ground(row, look)
    painted: Line = []
    at = 0
    for piece, style in runs:
        for begin, end, marked in _cuts(at, at + len(piece), row.marks):
            painted.append((text[begin:end], word if marked else style + paper))
        at += len(piece)
    return painted


def _cuts(begin: int, end: int, marks: Marks) -> list[tuple[int, int, bool]]:
    edges = sorted({begin, end, *(e for mark in marks for e in mark if begin < e < end)})
    return [(a, b, any(first <= a < last for first, last in marks)) for a, b in pairwise(edges)]


def _filled(line: Line, width: int, ground: Style) -> Line:
    return [*line, (" " * max(0, width - width_of_line(line)), ground)]


def title(part: Part) -> str:
    return clean_line(str(part.get("path") or "a file"))
