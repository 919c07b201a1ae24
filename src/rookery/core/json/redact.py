"""Secrets that can be recognized by their shape, taken out of texts that leave this machine.

Tokens of known vendors, private keys, passwords in addresses, `Authorization` headers, and values
of variables that are named as secrets. What has no such shape is not found.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

HIDDEN = "[redacted]"

KEYLIKE = r"\b(?:sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{16,}"
"""What vendors of models and forges call their keys."""

_VENDORS = (
    rf"{KEYLIKE}|\b(?:rk|ghu|ghr|xox[eors]|xapp|hf|npm|pypi|shpat|dop_v1|gsk|xai)[-_][\w-]{{16,}}"
    r"|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bya29\.[\w-]{20,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"
)
_SIGNED = r"(?<![\w-])eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]*"
_PRIVATE = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*+(?:-(?!----)[^-]*+)*+"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_HEADER = (
    r"(?i)\b(?:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest)|bearer)"
    r"\s{1,4}(?P<secret>[\w.~+/=-]{12,})"
)
_ADDRESS = r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,200}:(?P<secret>[^\s/@\"'<>$]{1,200})@"
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


class Shape(NamedTuple):
    hints: tuple[str, ...]
    """A text without any of these has none: looking for them costs little."""
    pattern: str


_SHAPES = (
    Shape(("sk", "pk", "gh", "git", "gl", "xox", "xa", "rk", "hf_", "npm_", "pypi"), _VENDORS),
    Shape(("AIza", "AKIA", "ASIA", "ya29", "SG.", "AGE-", "shpat", "dop_", "gsk_"), _VENDORS),
    Shape(("eyJ",), _SIGNED),
    Shape(("PRIVATE KEY",), _PRIVATE),
    Shape(("earer", "EARER", "uthorization", "UTHORIZATION"), _HEADER),
    Shape(("://",), _ADDRESS),
    Shape(("oken=", "ey=", "ecret=", "sig=", "ture=", "word="), _PARAMETER),
    Shape(("KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE"), _VARIABLE),
    Shape(("ey", "oken", "ecret", "assw"), _FIELD),
)

_COLOURS = re.compile(r"(\x1b\[[0-9;:?]*[A-Za-z])")


def redact(text: str) -> str:
    """The text without the secrets in it, also where colours stand between their letters."""
    if "\x1b[" not in text:
        return redact_pieces([text])[0]
    pieces = _COLOURS.split(text)
    pieces[::2] = redact_pieces(pieces[::2])
    return "".join(pieces)


def redact_pieces(pieces: Sequence[str]) -> list[str]:
    """The pieces of one text, which may cut a secret in two: the first of them shows that it was
    there."""
    spans = _spans("".join(pieces))
    if not spans:
        return list(pieces)
    found, begin, next_ = list[str](), 0, 0
    for piece in pieces:
        end, at, kept = begin + len(piece), begin, ""
        while next_ < len(spans) and spans[next_][0] < end:
            first, last = spans[next_]
            kept += piece[at - begin : max(first, at) - begin]
            kept += HIDDEN if first >= begin else ""
            at = min(last, end)
            if last > end:
                break  # the next piece goes on with it
            next_ += 1
        found.append(kept + piece[at - begin :])
        begin = end
    return found


def redact_json(value: Any, levels: int = 60) -> Any:
    """A value without the secrets in its texts. What is nested more deeply is left out."""
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
    """Where secrets are, in order and apart from each other."""
    found = set[tuple[int, int]]()
    patterns = dict.fromkeys(
        shape.pattern for shape in _SHAPES if any(hint in text for hint in shape.hints)
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text):
            found.add(match.span("secret" if "secret" in match.re.groupindex else 0))
    apart: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if apart and first < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
        else:
            apart.append((first, last))
    return apart
