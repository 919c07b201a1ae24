"""A tool call's arguments while they stream: which are complete, and how far the open one is. The
text is read only once, whatever the size of its chunks."""

import json
import re
from typing import Any

from rookery.core.json import Json

_KEY = re.compile(r'[\s{,]*"((?:[^"\\]|\\.)*)"\s*:\s*', re.DOTALL)
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_WHOLE_ESCAPES = re.compile(
    r"(?:[^\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}"
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u])*",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,}\]]+(?=[\s,}\]])")
_NESTING = re.compile(r'["{}\[\]]')


class Arguments:
    def __init__(self) -> None:
        self.whole: Json = {}
        """The complete arguments, in order."""
        self.open_key = ""
        self._text = ""
        self._at = 0
        self._inside = False  # of a value
        self._look = 0
        """Where the search for an open value's end continues."""
        self._depth = 0
        self._given = 0
        """How much of an open text `news` has returned."""
        self._news: dict[str, list[str]] = {}

    def feed(self, text: str) -> bool:
        """Parse more text. Returns whether an argument was completed."""
        self._text += text
        before = len(self.whole)
        while self._step():
            pass
        return len(self.whole) > before

    def news(self, key: str) -> str:
        """Return the new part of a text argument, unescaped."""
        return "".join(self._news.pop(key, []))

    def _step(self) -> bool:
        if not self._inside:
            match = _KEY.match(self._text, self._at)
            if match is None or match.end() >= len(self._text):
                return False
            self.open_key = _loads(f'"{match[1]}"') or match[1]
            self._at = self._look = self._given = match.end()
            self._inside, self._depth = True, 0
        first = self._text[self._at]
        if first == '"':
            return self._string()
        if first in "{[":
            return self._nested()
        scalar = _SCALAR.match(self._text, self._at)
        return scalar is not None and self._ended(scalar.end())

    def _string(self) -> bool:
        self._look = max(self._look, self._at + 1)
        end = _STRING_END.match(self._text, self._look)
        stop = end.end() - 1 if end else len(self._text)
        self._given = max(self._given, self._at + 1)
        fresh = _WHOLE_ESCAPES.match(self._text, self._given, stop)
        upto = stop if end else fresh.end() if fresh else self._given
        if upto > self._given:
            piece = _loads(f'"{self._text[self._given : upto]}"')
            self._news.setdefault(self.open_key, []).append(piece if piece is not None else "")
            self._given = upto
        if end is None:
            self._look = upto
            return False
        return self._ended(end.end())

    def _nested(self) -> bool:
        while (match := _NESTING.search(self._text, self._look)) is not None:
            mark = match[0]
            if mark == '"':
                end = _STRING_END.match(self._text, match.end())
                if end is None:
                    self._look = match.start()
                    return False
                self._look = end.end()
                continue
            self._look = match.end()
            self._depth += 1 if mark in "{[" else -1
            if self._depth == 0:
                return self._ended(self._look)
        self._look = max(self._look, len(self._text))
        return False

    def _ended(self, end: int) -> bool:
        value = _loads(self._text[self._at : end])
        if self.open_key:
            self.whole[self.open_key] = value
        self._at, self._inside, self.open_key = end, False, ""
        return True


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
