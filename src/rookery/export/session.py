"""Exporting a session in one of the formats, as pieces of bytes."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from rookery.home.paths import session_dir
from rookery.log.reader import Reader

FORMATS = {"md": "Markdown", "jsonl": "JSON lines, one per event", "html": "one HTML page"}
"""The formats by file name extension."""

TYPES = {
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/jsonl",
    "html": "text/html; charset=utf-8",
}


class Turns(NamedTuple):
    """A range of turns; 0 is what came before the first prompt."""

    first: int = 0
    last: int | None = None
    """None: up to the end."""


ALL = Turns()


def pieces(
    home: str, session: str, form: str = "md", turns: Turns = ALL, now: float = 0.0
) -> Iterator[bytes]:
    """Yield the export piece by piece. `now` is in milliseconds since the epoch; with 0 the page
    does not say when it was made. Raises LogError and PathError before the first piece if there is
    no such session."""
    log = Reader.open(session_dir(home, session))
    return _pieces(log, form, turns, now)


def write(
    home: str,
    session: str,
    form: str,
    out: BinaryIO,
    turns: Turns = ALL,
    now: float = 0.0,
) -> None:
    """Write the export to a binary file. Raises OSError, LogError."""
    for piece in pieces(home, session, form, turns, now):
        out.write(piece)


def _pieces(log: Reader, form: str, turns: Turns, now: float) -> Iterator[bytes]:
    with log:
        match form:
            case "jsonl":
                from rookery.export import jsonl

                texts = jsonl.lines(log, turns.first, turns.last)
            case "html":
                from rookery.export.html import page

                texts = page.pieces(log, turns.first, turns.last, now)
            case _:
                from rookery.export import markdown

                texts = markdown.pieces(log, turns.first, turns.last)
        for text in texts:
            yield text.encode("utf-8", "backslashreplace")
