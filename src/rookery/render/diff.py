"""A diff as rows: line numbers of both sides, and the words that changed."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import count, repeat, zip_longest
from typing import Any, NamedTuple

from rookery.render.runs import clean

type Part = dict[str, Any]
type Marks = tuple[tuple[int, int], ...]

CONTEXT = 3
LONGEST_PAIR = 400
"""Characters of a line whose words are compared."""

MOST_PAIRS = 60
ALIKE = 0.5
GAP = "…"
"""The sign of a row that stands for unchanged lines."""

_WORD = re.compile(r"\w+|\s+|.")


class Row(NamedTuple):
    """A line of a diff: its sign, its numbers on both sides, its text, the changed stretches."""

    sign: str
    old: int | None
    new: int | None
    text: str
    marks: Marks = ()

    @property
    def number(self) -> int | None:
        return self.old if self.new is None else self.new


def rows_of(part: Part) -> tuple[Row, ...]:
    """Return the rows of a diff part, which may be damaged; without numbers if it is not known at
    which line of the file it begins."""
    old, new, line = part.get("old"), part.get("new"), part.get("line", 1)
    line = max(line, 1) if isinstance(line, int) else None
    other = part.get("newLine", line)
    return _rows(
        clean(old) if isinstance(old, str) else "",
        clean(new) if isinstance(new, str) else "",
        line,
        other if isinstance(other, int) and line else line,
    )


def of_hunk(lines: Sequence[str], old: int, new: int) -> tuple[Row, ...]:
    """Return the rows of a hunk, given its `lines` with their signs, and the first line's number on
    both sides."""
    rows: list[Row] = []
    taken: list[str] = []
    added: list[str] = []

    def flush() -> None:
        left, right = _marks(taken, added)
        begins = old - len(taken), new - len(added)
        rows.extend(Row("-", begins[0] + n, None, row, left[n]) for n, row in enumerate(taken))
        rows.extend(Row("+", None, begins[1] + n, row, right[n]) for n, row in enumerate(added))
        taken.clear()
        added.clear()

    for line in lines:
        sign, text = line[:1], line[1:]
        if sign != "+" and (added or sign == " "):
            flush()
        if sign == "-":
            taken.append(text)
            old += 1
        elif sign == "+":
            added.append(text)
            new += 1
        elif sign == " ":
            rows.append(Row(" ", old, new, text))
            old, new = old + 1, new + 1
    flush()
    return tuple(rows)


def changed(part: Part) -> tuple[int, int]:
    """Return how many lines a diff adds, and how many it removes."""
    signs = [row.sign for row in rows_of(part)]
    return signs.count("+"), signs.count("-")


def pairs(rows: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    """Return old and new rows side by side."""
    paired: list[tuple[Row | None, Row | None]] = []
    sides: dict[str, list[Row]] = {"-": [], "+": []}
    for row in [*rows, None]:
        if row is not None and row.sign in sides:
            sides[row.sign].append(row)
            continue
        paired += zip_longest(sides["-"], sides["+"])
        sides = {"-": [], "+": []}
        if row is not None:
            paired.append((row, row))
    return paired


@lru_cache(maxsize=200)
def _rows(old: str, new: str, line: int | None, other: int | None) -> tuple[Row, ...]:
    """Return the rows; `line` is the number of the old text's first line, `other` the new one's."""
    before, after = old.splitlines(), new.splitlines()
    rows: list[Row] = []
    matcher = SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            rows.append(Row(GAP, None, None, ""))
        for kind, a, b, c, d in group:
            taken, added = before[a:b], after[c:d]
            lefts, rights = _counted(line, a), _counted(other, c)
            if kind == "equal":
                rows += map(Row, repeat(" "), lefts, rights, taken)
                continue
            left, right = _marks(taken, added)
            rows += map(Row, repeat("-"), lefts, repeat(None), taken, left)
            rows += map(Row, repeat("+"), repeat(None), rights, added, right)
    return tuple(rows)


def _counted(line: int | None, offset: int) -> Iterator[int | None]:
    return repeat(None) if line is None else count(line + offset)


def _marks(taken: list[str], added: list[str]) -> tuple[list[Marks], list[Marks]]:
    """Return the changed stretches of lines that have a counterpart on the other side."""
    left: list[Marks] = [()] * len(taken)
    right: list[Marks] = [()] * len(added)
    if max(len(taken), len(added)) > MOST_PAIRS:
        return left, right
    free = 0
    for at, old in enumerate(taken):
        for other in range(free, min(len(added), free + 4)):
            if (marks := _compared(old, added[other])) is not None:
                left[at], right[other] = marks
                free = other + 1
                break
    return left, right


def _compared(old: str, new: str) -> tuple[Marks, Marks] | None:
    """Return the changed stretches of two similar lines, or None if they are not similar."""
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


def _stretch(tokens: list[str], first: int, last: int) -> tuple[int, int]:
    begin = sum(map(len, tokens[:first]))
    return begin, begin + sum(map(len, tokens[first:last]))
