"""Clean text measured in columns, and numbers as text."""

from rich.cells import cell_len, set_cell_size

from rookery.core.json.safe_text import count
from rookery.render.plain import clean, clean_line

__all__ = ["clean", "clean_line", "count", "cut", "duration", "size_of", "width_of"]


def width_of(text: str) -> int:
    """Columns that a clean text takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, most: int) -> str:
    """A clean line in at most so many columns, with an ellipsis where something is missing."""
    if width_of(text) <= most:
        return text
    if most <= 1:
        return "…"[:most]
    return set_cell_size(text, most - 1).rstrip() + "…"


def duration(seconds: float) -> str:
    """`4.2 s`, `48 s`, `3 m 05 s`, `2 h 10 m`."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} m"


def size_of(count_of_bytes: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count_of_bytes < 1000:
            return f"{count_of_bytes:.0f} {unit}" if unit == "B" else f"{count_of_bytes:.1f} {unit}"
        count_of_bytes /= 1000
    return f"{count_of_bytes:.1f} GB"
