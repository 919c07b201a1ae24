"""Exporting a session as a file: Markdown, JSON lines, or one HTML page; secrets of known shapes
are masked.

`pieces` yields the bytes as they are made, turn by turn: however long the session, it is never held
in memory as a whole."""

from rookery.export.session import FORMATS, Turns, pieces, write

__all__ = ["FORMATS", "Turns", "pieces", "write"]
