"""Snippets of hits: some words around the first match, with the matches marked.

The text is matched again by FTS5 itself, in memory, so that exactly what matched is marked."""

import re
import sqlite3
from typing import NamedTuple

from rookery.core.json.safe_text import clean
from rookery.search import terms
from rookery.search.texts import Row

BEFORE, AFTER = 60, 180
"""Characters before and after the first match."""

MAX_MARKS = 50
"""How many matches of a snippet are marked."""

BEGIN, END = "\ue001", "\ue002"
"""Around a match. FTS5 is given no text that has them."""

_MARKED = re.compile(f"{BEGIN}([^{END}]*){END}")


class Snippet(NamedTuple):
    text: str
    """One line, safe to print."""
    marks: tuple[tuple[int, int], ...]
    place: int = 0
    """Where in the row's text the first match is."""


class Marker:
    """Marks the matches of one query."""

    def __init__(self, match: str) -> None:
        self._match = match
        self._link = sqlite3.connect(":memory:", isolation_level=None)
        self._link.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{terms.TOKENIZER}')")

    def __enter__(self) -> "Marker":
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def snippet(self, row: Row) -> Snippet | None:
        """Return the snippet of a row; None if the row does not match."""
        self._link.execute("DELETE FROM t")
        self._link.execute("INSERT INTO t VALUES (?)", (terms.indexed(row.text, row.role),))
        find = "SELECT highlight(t, 0, ?, ?) FROM t WHERE t MATCH ?"
        matches = self._link.execute(find, (BEGIN, END, self._match)).fetchall()
        return _snippet(matches[0][0]) if matches else None


def _snippet(marked: str) -> Snippet:
    main, _, extra = marked.replace(terms.APART, "").partition(terms.EXTRA)
    text, spans = _spans(main.replace(END + BEGIN, ""))  # letters of one word
    if not spans:
        spans = _inside(text, _MARKED.findall(extra))
    first = spans[0][0] if spans else 0
    start, end = _window(text, first)
    shown = "…" if start else ""
    marks: list[tuple[int, int]] = []
    place = start
    for begins, ends in spans[:MAX_MARKS]:
        if begins >= end:
            break
        shown = _with(shown, text[place:begins])
        before = len(shown)
        place = min(ends, end)
        shown = _with(shown, text[begins:place])
        marks.append((before, len(shown)))
    shown = _with(shown, text[place:end]).rstrip()
    return Snippet(shown + ("…" if text[end:].strip() else ""), tuple(marks), first)


def _spans(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its marks, and the ranges that they enclosed."""
    text = ""
    spans = []
    for number, piece in enumerate(re.split(f"[{BEGIN}{END}]", marked)):
        if number % 2:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def _inside(text: str, parts: list[str]) -> list[tuple[int, int]]:
    """Return the ranges of an identifier's words in the text, which has only the whole
    identifier."""
    matches = (re.search(re.escape(part), text) for part in dict.fromkeys(parts))
    return sorted(each.span() for each in matches if each)


def _window(text: str, first: int) -> tuple[int, int]:
    """Return a range around the first match, from word to word."""
    start, end = max(0, first - BEFORE), min(len(text), first + AFTER)
    if start and (blank := re.compile(r"\s").search(text, start, first)):
        start = blank.end()
    if end < len(text) and (blank := re.compile(r"\s").search(text, end - BEFORE // 2, end)):
        end = blank.start()
    return start, end


def _with(line: str, piece: str) -> str:
    """Append a piece to a line; each run of blanks becomes one."""
    piece = re.sub(r"\s+", " ", clean(piece))
    return line + (piece.lstrip() if line in ("", "…") or line.endswith(" ") else piece)
