"""Halves of a character, which JSON can carry and UTF-8 cannot: joined where both come, replaced
where one is missing. Written down as they are they would fail the turn, and every later one."""

import json
from typing import Any

HIGH = range(0xD800, 0xDC00)


def whole(text: str) -> str:
    """Free of them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole_json(text: str) -> str:
    """The same for JSON, in which they may be escapes. What is no JSON stays as it is."""
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
    """A text that comes in pieces, each of which may end in the middle of a character."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = ""
        if text and ord(text[-1]) in HIGH:
            text, self._held = text[:-1], text[-1]
        return whole(text)
