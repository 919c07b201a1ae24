"""Text from agents for a face that places each letter: every control is replaced by a sign."""

from rookery.core.json import safe_text

TAB = 4


def clean(text: str) -> str:
    """Keep newlines, expand tabs, show every other control as a sign."""
    return safe_text.clean(text.expandtabs(TAB))


def clean_line(text: str, most: int = 2000) -> str:
    """The same on one line, with runs of blanks collapsed."""
    return safe_text.clean_line(text[:most])
