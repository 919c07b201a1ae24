"""Masks secrets: values of variables and headers, and words that look like keys."""

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rookery.core.json import Json

MASK = "•••"

_REFERENCE = re.compile(r"[^$]{0,20}\$\{[^}]*\}")
"""`${NAME}`, also after a word such as Bearer: a reference is no secret."""

_NAMES = re.compile(r"(?i)(key|token|secret|password|passwd|auth|credential)")
_KEYLIKE = re.compile(r"(sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{8,}")
"""Shorter than a key that is looked for in any text: what is masked here is only shown."""
_OPTION = re.compile(r"(-{1,2}[\w-]+)([=:])(.+)", re.DOTALL)


def masked(entry: Json) -> Json:
    """A server's entry without secrets."""
    found: Json = {}
    for key, value in entry.items():
        if key in ("env", "headers") and isinstance(value, dict):
            found[key] = {name: _value(each) for name, each in value.items()}
        elif key == "args" and isinstance(value, list):
            found[key] = masked_words(value)
        elif key in ("url", "httpUrl") and isinstance(value, str):
            found[key] = _url(value)
        elif _NAMES.search(key) and isinstance(value, str | int | float):
            found[key] = _value(value)
        else:
            found[key] = value
    return found


def _value(value: object) -> object:
    if isinstance(value, str) and (not value or _REFERENCE.fullmatch(value)):
        return value
    return MASK


def masked_words(words: list[Any]) -> list[str]:
    """The words of a command; what follows `--api-key` is masked, too."""
    found, next_is_secret = list[str](), False
    for word in map(str, words):
        option = _OPTION.fullmatch(word)
        if next_is_secret and not word.startswith("-"):
            found.append(str(_value(word)))
        elif option and _NAMES.search(option[1]):
            found.append(f"{option[1]}{option[2]}{_value(option[3])}")
        else:
            found.append(_KEYLIKE.sub(MASK, word))
        next_is_secret = bool(word.startswith("-") and not option and _NAMES.search(word))
    return found


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    place = parts.netloc
    if "@" in place:
        place = MASK + "@" + place.rpartition("@")[2]
    pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query else []
    query = "&".join(
        f"{key}{sign}{_value(value) if _NAMES.search(key) else value}" for key, sign, value in pairs
    )
    return urlunsplit((parts.scheme, place, parts.path, query, parts.fragment))
