"""Cleaning agents' text for faces that place each character: every control character is replaced by
a sign."""

from rookery.core.json import safe_text

TAB = 4


def clean(text: str) -> str:
    """Keep newlines, expand tabs, and replace every other control character by a sign."""
    return safe_text.clean(text.expandtabs(TAB))


def clean_line(text: str, most: int = 2000) -> str:
    """Clean text like `clean`, on one line, with runs of blanks collapsed."""
    return safe_text.clean_line(text[:most])
