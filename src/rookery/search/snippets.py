"""What is shown of a hit: some words around the first match, with the matches marked.

The text is matched again by FTS5 itself, in memory: what is marked is what was found.
"""

import re
import sqlite3
from typing import NamedTuple

from rookery.core.json.safe_text import clean
from rookery.search import words
from rookery.search.texts import Row

BEFORE, AFTER = 60, 180
"""Characters before and after the first match."""

MOST = 50
"""Marks of a snippet."""

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
    """For one query."""

    def __init__(self, match: str) -> None:
        self._match = match
        self._link = sqlite3.connect(":memory:", isolation_level=None)
        self._link.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{words.TOKENIZER}')")

    def __enter__(self) -> "Marker":
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def snippet(self, row: Row) -> Snippet | None:
        """None: the row does not match."""
        self._link.execute("DELETE FROM t")
        self._link.execute("INSERT INTO t VALUES (?)", (words.indexed(row.text, row.role),))
        find = "SELECT highlight(t, 0, ?, ?) FROM t WHERE t MATCH ?"
        found = self._link.execute(find, (BEGIN, END, self._match)).fetchall()
        return _snippet(found[0][0]) if found else None


def _snippet(marked: str) -> Snippet:
    main, _, extra = marked.replace(words.APART, "").partition(words.EXTRA)
    text, spans = _spans(main.replace(END + BEGIN, ""))  # letters of one word
    if not spans:
        spans = _inside(text, _MARKED.findall(extra))
    first = spans[0][0] if spans else 0
    start, end = _window(text, first)
    said = "…" if start else ""
    marks: list[tuple[int, int]] = []
    place = start
    for begins, ends in spans[:MOST]:
        if begins >= end:
            break
        said = _with(said, text[place:begins])
        before = len(said)
        place = min(ends, end)
        said = _with(said, text[begins:place])
        marks.append((before, len(said)))
    said = _with(said, text[place:end]).rstrip()
    return Snippet(said + ("…" if text[end:].strip() else ""), tuple(marks), first)


def _spans(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and where they were."""
    text = ""
    spans = []
    for number, piece in enumerate(re.split(f"[{BEGIN}{END}]", marked)):
        if number % 2:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def _inside(text: str, parts: list[str]) -> list[tuple[int, int]]:
    """Where the words of an identifier stand in it, of which the text has only the whole."""
    found = (re.search(re.escape(part), text) for part in dict.fromkeys(parts))
    return sorted(each.span() for each in found if each)


def _window(text: str, first: int) -> tuple[int, int]:
    """About the first match, from word to word."""
    start, end = max(0, first - BEFORE), min(len(text), first + AFTER)
    if start and (blank := re.compile(r"\s").search(text, start, first)):
        start = blank.end()
    if end < len(text) and (blank := re.compile(r"\s").search(text, end - BEFORE // 2, end)):
        end = blank.start()
    return start, end


def _with(said: str, piece: str) -> str:
    """One line of both: each run of blanks is one."""
    piece = re.sub(r"\s+", " ", clean(piece))
    return said + (piece.lstrip() if said in ("", "…") or said.endswith(" ") else piece)
