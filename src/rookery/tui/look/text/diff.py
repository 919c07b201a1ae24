"""A diff as a person checks it: line numbers, the changed words marked, one column or two."""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from rich.style import Style

from rookery.tui.look.palette import Look
from rookery.tui.look.plain import clean, clean_line, count
from rookery.tui.look.runs import Line, fold, trimmed, width_of_line
from rookery.tui.look.text.code import highlighted, language_of

type Part = dict[str, Any]

SPLIT_FROM = 100
"""Columns from which on a diff may stand in two columns."""

CONTEXT = 3
LONGEST_PAIR = 400
"""Characters of a line whose words are compared."""

MOST_PAIRS = 60
ALIKE = 0.5

_WORD = re.compile(r"\w+|\s+|.")


class Row(NamedTuple):
    """One line of a diff: its sign, its numbers on both sides, its text, the changed stretches."""

    sign: str
    old: int | None
    new: int | None
    text: str
    marks: tuple[tuple[int, int], ...] = ()


def rows_of(part: Part) -> tuple[Row, ...]:
    old, new = part.get("old"), part.get("new")
    line = part.get("line")
    return _rows(
        clean(old) if isinstance(old, str) else "",
        clean(new) if isinstance(new, str) else "",
        line if isinstance(line, int) else 1,
    )


def changed(part: Part) -> tuple[int, int]:
    """How many lines a diff adds, and how many it takes away."""
    signs = [row.sign for row in rows_of(part)]
    return signs.count("+"), signs.count("-")


@lru_cache(maxsize=200)
def _rows(old: str, new: str, first: int) -> tuple[Row, ...]:
    before, after = old.splitlines(), new.splitlines()
    rows: list[Row] = []
    shift = first if before or first > 1 else 1
    matcher = SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            rows.append(Row("…", None, None, ""))
        for kind, a, b, c, d in group:
            if kind == "equal":
                rows += [
                    Row(" ", shift + a + n, shift + c + n, before[a + n]) for n in range(b - a)
                ]
                continue
            taken, added = before[a:b], after[c:d]
            marks = _marks(taken, added)
            rows += [
                Row("-", shift + a + n, None, text, marks[0][n]) for n, text in enumerate(taken)
            ]
            rows += [
                Row("+", None, shift + c + n, text, marks[1][n]) for n, text in enumerate(added)
            ]
    return tuple(rows)


type Marks = list[tuple[tuple[int, int], ...]]


def _marks(taken: list[str], added: list[str]) -> tuple[Marks, Marks]:
    """The stretches that changed in lines that have a partner on the other side."""
    left: Marks = [()] * len(taken)
    right: Marks = [()] * len(added)
    if max(len(taken), len(added)) > MOST_PAIRS:
        return left, right
    free = 0
    for at, old in enumerate(taken):
        for other in range(free, min(len(added), free + 4)):
            if (found := _compared(old, added[other])) is not None:
                left[at], right[other] = found
                free = other + 1
                break
    return left, right


def _compared(
    old: str, new: str
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] | None:
    """The changed stretches of two lines that are alike; None where they are not."""
    if max(len(old), len(new)) > LONGEST_PAIR:
        return None
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or matcher.ratio() < ALIKE:
        return None
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        tuple(_stretch(a, code[1], code[2]) for code in codes if code[2] > code[1]),
        tuple(_stretch(b, code[3], code[4]) for code in codes if code[4] > code[3]),
    )


def _stretch(words: list[str], first: int, last: int) -> tuple[int, int]:
    begin = sum(map(len, words[:first]))
    return begin, begin + sum(map(len, words[first:last]))


# --- looks -------------------------------------------------------------------------------------


def rendered(part: Part, width: int, look: Look, *, split: bool, most: int) -> list[Line]:
    """At most about `most` lines; says how many more there are."""
    rows = rows_of(part)
    path = part.get("path")
    language = language_of(path) if isinstance(path, str) else ""
    shown = rows[:most]
    wide = len(str(max((row.old or row.new or 0 for row in rows), default=0)))
    if split and width >= SPLIT_FROM:
        found = _in_two(shown, width, wide, language, look)
    else:
        found = _in_one(shown, width, wide, language, look)
    if len(rows) > most:
        found.append([(f"… {count(len(rows) - most, 'more line')}", look.soft)])
    if part.get("cut"):
        found.append([("… the rest is in the file", look.soft)])
    return found


def _in_one(rows: tuple[Row, ...], width: int, wide: int, language: str, look: Look) -> list[Line]:
    found: list[Line] = []
    for row in rows:
        if row.sign == "…":
            found.append([("⋯".rjust(wide), look.faint)])
            continue
        number = row.new if row.new is not None else row.old
        lead: Line = [(f"{number:>{wide}} ", look.faint), (f"{row.sign} ", _ink(row, look))]
        room = width - width_of_line(lead)
        if room < 6:
            lead, room = [(row.sign, _ink(row, look))], max(width - 1, 1)
        body = fold(_painted(row, language, look), room)
        blank = " " * width_of_line(lead)
        for at, line in enumerate(body):
            filled = _filled(line, room, _ground(row, look))
            found.append([*(lead if at == 0 else [(blank, look.plain)]), *filled])
    return found


def _in_two(rows: tuple[Row, ...], width: int, wide: int, language: str, look: Look) -> list[Line]:
    half = (width - 3) // 2
    found: list[Line] = []
    for old, new in _pairs(rows):
        if old is not None and old.sign == "…":
            found.append([("⋯".rjust(wide), look.faint)])
            continue
        left = _side(old, old.old if old else None, half, wide, language, look)
        right = _side(new, new.new if new else None, half, wide, language, look)
        found.append([*left, (" │ ", look.line), *right])
    return found


def _pairs(rows: tuple[Row, ...]) -> list[tuple[Row | None, Row | None]]:
    pairs: list[tuple[Row | None, Row | None]] = []
    went: list[Row] = []
    came: list[Row] = []

    def flush() -> None:
        pairs.extend(zip_longest(went, came))
        went.clear()
        came.clear()

    for row in rows:
        if row.sign == "-":
            went.append(row)
        elif row.sign == "+":
            came.append(row)
        else:
            flush()
            pairs.append((row, row))
    flush()
    return pairs


def _side(
    row: Row | None, number: int | None, half: int, wide: int, language: str, look: Look
) -> Line:
    if row is None:
        return [(" " * half, look.plain)]
    lead: Line = [(f"{number or '':>{wide}} ", look.faint), (f"{row.sign} ", _ink(row, look))]
    room = max(half - width_of_line(lead), 1)
    body = trimmed(_painted(row, language, look), room)
    return [*lead, *_filled(body, room, _ground(row, look))]


def _ink(row: Row, look: Look) -> Style:
    return {"+": look.done, "-": look.failed}.get(row.sign, look.faint)


def _ground(row: Row, look: Look) -> Style:
    return {"+": look.added, "-": look.removed}.get(row.sign, look.plain)


def _painted(row: Row, language: str, look: Look) -> Line:
    """The code in its colours, on the ground of its sign; the changed words in plain ink, which is
    legible on their stronger one."""
    text = row.text[:2000]
    runs = highlighted(text, language, look)[0] if text else []
    strong = {"+": look.added_word, "-": look.removed_word}.get(row.sign, look.plain)
    word = look.ink + strong
    ground = _ground(row, look)
    found: Line = []
    at = 0
    for piece, style in runs:
        for begin, end, marked in _cuts(at, at + len(piece), row.marks):
            found.append((text[begin:end], word if marked else style + ground))
        at += len(piece)
    return found


def _cuts(begin: int, end: int, marks: tuple[tuple[int, int], ...]) -> list[tuple[int, int, bool]]:
    edges = sorted({begin, end, *(e for mark in marks for e in mark if begin < e < end)})
    return [(a, b, any(first <= a < last for first, last in marks)) for a, b in pairwise(edges)]


def _filled(line: Line, width: int, ground: Style) -> Line:
    return [*line, (" " * max(0, width - width_of_line(line)), ground)]


def title(part: Part) -> str:
    return clean_line(str(part.get("path") or "a file"))
