"""Clean text measured in columns, and numbers as text."""

from rich.cells import cell_len, set_cell_size

from rookery.core.json.safe_text import count
from rookery.render.plain import clean, clean_line

__all__ = ["clean", "clean_line", "count", "cut", "width_of"]


def width_of(text: str) -> int:
    """Columns of a clean text."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, most: int) -> str:
    """A clean line of at most `most` columns, with an ellipsis where something is missing."""
    if width_of(text) <= most:
        return text
    if most <= 1:
        return "…"[:most]
    return set_cell_size(text, most - 1).rstrip() + "…"
