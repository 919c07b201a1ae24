"""Secrets that are known by their shape: masked in all that leaves this machine."""

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
"""What each of them has in it, by one letter of it and by what several share. To look for one after
the other is many times quicker than a pattern with all of them, and each event of a log is
searched."""


def encoded(value: object) -> str:
    """JSON with its secrets masked. Masked before it is encoded: what is masked may not take
    quotation marks with it."""
    text = dumps(value)
    return dumps(masked_json(value)) if _may_have_one(text) else text


def masked(text: str) -> str:
    return _SECRET.sub(_hidden, text) if _may_have_one(text) else text


def _may_have_one(text: str) -> bool:
    for letter, shared in _WORDS.items():
        if letter in text:
            for beginning, found in shared.items():
                if beginning in text:
                    for word in found:
                        if word in text:
                            return True
    return False


_LONGEST = 512
_BEGINNING = re.compile(
    r"(?:\b(?:[spr]k?|g|gh[pousr]?|github(?:_p?a?)?|glpat|xo|AKI?|ASI?|AIz?|hf|npm?|pypi|ey|"
    r"(?:https?|wss?|\w{1,9}sql|redis|mongodb):/?)|(?<!\S)-{1,5}B?E?G?I?N?)\Z"
)
"""Of what secrets begin with; of one letter alone, only those of the most common ones."""
_LONGEST_KEY = 16 * 1024
_KEY = "-----BEGIN "
_OPEN_KEY = re.compile(
    r"-----BEGIN (?:[A-Z ]*-{0,4}\Z|"
    r"(?:[A-Z]+ )*PRIVATE KEY-----(?!.*-----END (?:[A-Z]+ )*PRIVATE KEY-----))",
    re.DOTALL,
)


def unfinished(text: str) -> int:
    """Where its last word begins, if that may be the beginning of a secret, or a private key that
    has no end yet; else its length."""
    key = text.rfind(_KEY, max(0, len(text) - _LONGEST_KEY))
    if key >= 0 and _OPEN_KEY.match(text, key):
        return key
    last = text[-_LONGEST:].split()[-1:] if text and not text[-1].isspace() else []
    if not last or len(last[0]) == _LONGEST:  # there is none, or it is longer than any
        return len(text)
    begins = _SIGNS.search(last[0]) or _BEGINNING.search(last[0])
    return len(text) - len(last[0]) if begins else len(text)


def places(text: str) -> list[tuple[int, int]]:
    """Where secrets are, in order."""
    return [found.span() for found in _SECRET.finditer(text)] if _may_have_one(text) else []


def covered(text: str) -> str:
    """Masked letter by letter: lines, and places in the text, stay where they are."""
    for first, last in reversed(places(text)):
        text = text[:first] + re.sub(r"[^\n]", "•", text[first:last]) + text[last:]
    return text


def _hidden(found: re.Match[str]) -> str:
    """The beginning stays: it says which kind of secret it was."""
    secret = found.group()
    if secret.startswith("-----BEGIN"):
        return f"-----BEGIN PRIVATE KEY----- {MASK}"
    sign = _SIGNS.match(secret)
    return (sign.group() if sign else "") + MASK


def restored(text: str, original: str) -> str | None:
    """A text that was masked, and perhaps changed since, with its secrets again. None: it cannot be
    told where each of them belongs."""
    if MASK not in text:
        return text
    found, at = "", 0
    for first, last in places(original):
        secret = original[first:last]
        shown = masked(secret)
        here = text.find(shown, at)
        if here < 0:
            return None
        found, at = found + text[at:here] + secret, here + len(shown)
    found += text[at:]
    return found if found.count(MASK) <= original.count(MASK) else None


def masked_json[Value](value: Value) -> Value:
    """The same value with every text in it masked; itself where there is nothing to mask."""
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
