"""Halves of a character (surrogates), which JSON can carry and UTF-8 cannot: joined, or replaced if
one is missing. Kept as they are, they would fail this turn and every later one."""

import json
from typing import Any

HIGH = range(0xD800, 0xDC00)


def whole(text: str) -> str:
    """Return the text without lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole_json(text: str) -> str:
    """Do the same for JSON, where they may be escapes. Invalid JSON is returned as is."""
    text = whole(text)
    if "\\ud" not in text.lower():
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(_each(value), ensure_ascii=False)


def _each(value: Any) -> Any:
    match value:
        case str():
            return whole(value)
        case list():
            return [_each(inner) for inner in value]
        case dict():
            return {whole(key): _each(inner) for key, inner in value.items()}
    return value


class Pieces:
    """A text in chunks, each of which may end in the middle of a character."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = ""
        if text and ord(text[-1]) in HIGH:
            text, self._held = text[:-1], text[-1]
        return whole(text)
