"""Removing secrets from files that leave this machine: those of a known shape, and those that stand
where secrets do, in a header, a URL parameter, a variable or a field of that name.

What is streamed to clients is masked by its shape alone (`core/json/secrets.py`), which costs less.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from rookery.core.json.secrets import MASK, places

_HEADER = (
    r"(?i)\b(?:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest)|bearer)"
    r"\s{1,4}(?P<secret>[\w.~+/=-]{12,})"
)
_PARAMETER = (
    r"(?i)[?&](?:access_token|auth_token|token|api_?key|key|client_secret|secret|sig|signature"
    r"|password)=(?P<secret>[^&\s\"'<>$]{12,})"
)
_VARIABLE = (
    r"\b[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)[\"']?"
    r"\s{0,2}[=:]\s{0,2}[\"']?(?P<secret>(?=[^\s\"']{0,200}\d)[^\s\"'$<>{}()\[\];,]{8,})"
)
_FIELD = (
    r"(?i)[\"'](?:[a-z]{1,20}_)?(?:api[_-]?key|(?:access|auth|refresh)[_-]?token|client[_-]?secret"
    r"|secret[_-]?key|private[_-]?key|password|passwd)\\?[\"']\s{0,4}:\s{0,4}\\?[\"']"
    r"(?P<secret>[^\"'\\$<>\s]{8,})"
)


class _Place(NamedTuple):
    hints: tuple[str, ...]
    """A text without any of these has none: looking for them costs little."""
    pattern: str


_PLACES = (
    _Place(("earer", "EARER", "uthorization", "UTHORIZATION"), _HEADER),
    _Place(("oken=", "ey=", "ecret=", "sig=", "ture=", "word="), _PARAMETER),
    _Place(("KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE"), _VARIABLE),
    _Place(("ey", "oken", "ecret", "assw"), _FIELD),
)

_COLOURS = re.compile(r"(\x1b\[[0-9;:?]*[A-Za-z])")


SHORTEST, SHORT = 8, 64
"""Characters: a shorter text has none; short ones are names and states, which come again."""


def redact(text: str) -> str:
    """Return the text without its secrets, even where colour codes stand between letters."""
    if len(text) < SHORTEST:
        return text
    return _redact_again(text) if len(text) <= SHORT else _redact(text)


@lru_cache(maxsize=2048)
def _redact_again(text: str) -> str:
    return _redact(text)


def _redact(text: str) -> str:
    if "\x1b[" not in text:
        return redact_pieces([text])[0]
    pieces = _COLOURS.split(text)
    pieces[::2] = redact_pieces(pieces[::2])
    return "".join(pieces)


def redact_pieces(pieces: Sequence[str]) -> list[str]:
    """Redact the pieces of one text: of a split secret, the first has the mask."""
    spans = _spans("".join(pieces))
    if not spans:
        return list(pieces)
    redacted, begin, next_ = list[str](), 0, 0
    for piece in pieces:
        end, at, kept = begin + len(piece), begin, ""
        while next_ < len(spans) and spans[next_][0] < end:
            first, last = spans[next_]
            kept += piece[at - begin : max(first, at) - begin]
            kept += MASK if first >= begin else ""
            at = min(last, end)
            if last > end:
                break  # the next piece goes on with it
            next_ += 1
        redacted.append(kept + piece[at - begin :])
        begin = end
    return redacted


def redact_json(value: Any, levels: int = 60) -> Any:
    """Return a value without the secrets in its texts. What is nested more deeply is left out."""
    match value:
        case str():
            return redact(value)
        case dict() | list() if levels <= 0:
            return "…"
        case dict():
            return {redact(str(key)): redact_json(each, levels - 1) for key, each in value.items()}
        case list() | tuple():
            return [redact_json(each, levels - 1) for each in value]
    return value


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of secrets, in order and not overlapping."""
    spans = set(places(text))
    for place in _PLACES:
        if any(hint in text for hint in place.hints):
            spans |= {match.span("secret") for match in re.finditer(place.pattern, text)}
    apart: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if apart and first < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
        else:
            apart.append((first, last))
    return apart
