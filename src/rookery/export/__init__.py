"""A session as a file: Markdown, JSON lines, or one HTML page; secrets of known shapes masked.

`pieces` gives the bytes as they are made, turn by turn: however long the session, never all of it
is held.
"""

from rookery.export.session import FORMATS, Turns, pieces, write

__all__ = ["FORMATS", "Turns", "pieces", "write"]
