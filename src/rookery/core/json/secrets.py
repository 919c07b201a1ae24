"""Masking secrets that are recognised by their shape, in everything that leaves this machine."""

import re

from rookery.core.json.events import dumps

MASK = "•••"

_SHAPES = (
    r"\b(?:sk|pk|rk)-[A-Za-z0-9][\w-]{18,}",  # OpenAI, Anthropic, Stripe
    r"\b(?:sk|pk|rk)_(?:live|test)_\w{16,}",
    r"\brk_[\w-]{43}",  # our own tokens
    r"\bgh[pousr]_[A-Za-z0-9]{30,}",
    r"\bgithub_pat_\w{40,}",
    r"\bglpat-[\w-]{20,}",
    r"\bxox[abeoprs]-[\w-]{16,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[\w-]{35}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bnpm_[A-Za-z0-9]{36}",
    r"\bpypi-[\w-]{50,}",
    r"(?<![\w-])eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}",  # a JSON web token
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)",
    r"(?<=://hooks\.slack\.com/services/)[\w/]{16,}",
    # User and password in an address; a reference to a variable is no password.
    r"(?<=://)[^\s/:@\"']+:(?!\$\{?\w+\}?@)[^\s/@\"']{3,}(?=@)",
)
_SECRET = re.compile("|".join(_SHAPES), re.DOTALL)
_SIGNS = re.compile(
    r"(?:sk|pk|rk)[-_]|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|hf_|npm_|pypi-|eyJ|"
    r"PRIVATE KEY|://"
)
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "-": {
        "k-": ("sk-", "pk-", "rk-"),
        "xox": ("xox",),
        "glpat-": ("glpat-",),
        "pypi-": ("pypi-",),
        "PRIVATE KEY-": ("PRIVATE KEY-",),
    },
    "_": {
        "k_": ("sk_", "pk_", "rk_"),
        "gh": tuple(f"gh{kind}_" for kind in "pousr"),
        "github_pat_": ("github_pat_",),
        "hf_": ("hf_",),
        "npm_": ("npm_",),
    },
    ":": {"://": ("://",)},
    "A": {"AKIA": ("AKIA",), "ASIA": ("ASIA",), "AIza": ("AIza",)},
    "J": {"eyJ": ("eyJ",)},
}
"""A text that each of them contains, by one letter of it and by a part that several share. Looking
for one after the other is many times quicker than a pattern with all of them, and each event of a
log is searched."""


def encoded(value: object) -> str:
    """Encode as JSON with secrets masked, which must come first to keep quotation marks."""
    text = dumps(value)
    return dumps(masked_json(value)) if _may_have_one(text) else text


def masked(text: str) -> str:
    return _SECRET.sub(_hidden, text) if _may_have_one(text) else text


def _may_have_one(text: str) -> bool:
    for letter, shared in _WORDS.items():
        if letter in text:
            for beginning, candidates in shared.items():
                if beginning in text:
                    for word in candidates:
                        if word in text:
                            return True
    return False


_LONGEST = 512
_BEGINNING = re.compile(
    r"(?:\b(?:[spr]k?|g|gh[pousr]?|github(?:_p?a?)?|glpat|xo|AKI?|ASI?|AIz?|hf|npm?|pypi|ey|"
    r"(?:https?|wss?|\w{1,9}sql|redis|mongodb):/?)|(?<!\S)-{1,5}B?E?G?I?N?)\Z"
)
"""Beginnings of secrets; of the single-letter ones, only the most common."""
_LONGEST_KEY = 16 * 1024
_KEY = "-----BEGIN "
_OPEN_KEY = re.compile(
    r"-----BEGIN (?:[A-Z ]*-{0,4}\Z|"
    r"(?:[A-Z]+ )*PRIVATE KEY-----(?!.*-----END (?:[A-Z]+ )*PRIVATE KEY-----))",
    re.DOTALL,
)


def unfinished(text: str) -> int:
    """Return where the last word begins, if that may be the beginning of a secret or of a private
    key without an end yet; else the text's length."""
    key = text.rfind(_KEY, max(0, len(text) - _LONGEST_KEY))
    if key >= 0 and _OPEN_KEY.match(text, key):
        return key
    last = text[-_LONGEST:].split()[-1:] if text and not text[-1].isspace() else []
    if not last or len(last[0]) == _LONGEST:  # there is none, or it is longer than any
        return len(text)
    begins = _SIGNS.search(last[0]) or _BEGINNING.search(last[0])
    return len(text) - len(last[0]) if begins else len(text)


def places(text: str) -> list[tuple[int, int]]:
    """Return the spans of secrets, in order."""
    return [match.span() for match in _SECRET.finditer(text)] if _may_have_one(text) else []


def covered(text: str) -> str:
    """Mask secrets letter by letter: lines, and positions in the text, stay where they are."""
    for first, last in reversed(places(text)):
        text = text[:first] + re.sub(r"[^\n]", "•", text[first:last]) + text[last:]
    return text


def _hidden(match: re.Match[str]) -> str:
    """Mask a secret but for its beginning, which says what kind of secret it was."""
    secret = match.group()
    if secret.startswith("-----BEGIN"):
        return f"-----BEGIN PRIVATE KEY----- {MASK}"
    sign = _SIGNS.match(secret)
    return (sign.group() if sign else "") + MASK


def restored(text: str, original: str) -> str | None:
    """Put the secrets back into a text that was masked, and perhaps changed since. Return None if
    it is unclear where each of them belongs."""
    if MASK not in text:
        return text
    unmasked, at = "", 0
    for first, last in places(original):
        secret = original[first:last]
        shown = masked(secret)
        here = text.find(shown, at)
        if here < 0:
            return None
        unmasked, at = unmasked + text[at:here] + secret, here + len(shown)
    unmasked += text[at:]
    return unmasked if unmasked.count(MASK) <= original.count(MASK) else None


def masked_json[Value](value: Value) -> Value:
    """Return the value with every text in it masked; the same object if nothing is."""
    match value:
        case str():
            return masked(value)  # type: ignore[return-value]
        case dict():
            changed = {key: masked_json(each) for key, each in value.items()}
        case list():
            changed = [masked_json(each) for each in value]  # type: ignore[assignment]
        case _:
            return value
    return value if changed == value else changed  # type: ignore[return-value]
