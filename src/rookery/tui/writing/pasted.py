"""A long text that was pasted is one chip above the composer, and goes with the prompt whole."""

from rookery.core.json.safe_text import count

LINES = 12
LETTERS = 2000


def is_long(text: str) -> bool:
    return len(text) > LETTERS or text.strip("\n").count("\n") >= LINES


def name_of(text: str) -> str:
    return f"pasted text, {count(text.strip(chr(10)).count(chr(10)) + 1, 'line')}"


def joined(text: str, pasted: list[str]) -> str:
    """The prompt: what was written, then each paste as a paragraph of its own."""
    return "\n\n".join(each for each in (text, *pasted) if each.strip())
