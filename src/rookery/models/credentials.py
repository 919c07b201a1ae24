"""Detects secrets in texts: by their name, or by their place in a header, an address or a command's
arguments."""

import base64
import binascii
import re
import shlex
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

_NAME = re.compile(
    r"(token|secret|passw(or)?d|passphrase|authorization|credentials?|cookie"
    r"|(api|access|auth|secret|private|license|account)[_-]?key|(^|[_-])(key|pass|auth)|[_-]pwd)"
    r"($|[_-](id|value)$)|access[_-]?key|auth[_-]?token",
    re.IGNORECASE,
)
"""`PGPASSWORD` and `MYTOKEN` as well as `api-key`; not `PWD`, `max_tokens` or `TOKEN_FILE`."""
_REFERENCE = re.compile(r"\$\{[^}]*\}|\$\w+")
"""A reference to a secret is not a secret."""
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][\w-]*)[ \t]+(?P<rest>\S.*)", re.DOTALL)
_HEADER = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>\S.*)", re.DOTALL)
_ASSIGNED = re.compile(r"(?P<name>-{0,2}[A-Za-z_][\w.-]*)[=:](?P<value>\S.*)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")
_KEYLIKE = re.compile(r"\b(?:sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{16,}")
_OPAQUE = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])\w{20,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}")
"""A part of an address that looks random: usually a token."""
_LINE = 16
"""Characters: shorter lines of a private key are not taken as secrets."""
_WORD = 12
"""Letters: shorter texts are words, as the passwords of local databases often are."""


def is_secret_name(name: str) -> bool:
    """Tell whether a value of this name is a secret."""
    return _NAME.search(name) is not None


def of_named(text: str) -> set[str]:
    """Return the secrets in a value with a secret's name: all of it, and the parts that may appear
    alone."""
    text = text.strip()
    if not text or _REFERENCE.fullmatch(text):
        return set()
    if "\n" in text:  # a private key, printed line by line
        lines = (line.strip() for line in text.splitlines())
        return {line for line in lines if len(line) >= _LINE and not line.startswith("-----")}
    secrets = {text} | of_address(text)
    if (match := _SCHEME.fullmatch(text)) is not None:  # Bearer …, Basic …
        secrets |= of_named(match["rest"])
        if match["scheme"].lower() == "basic":
            secrets |= _of_basic(match["rest"])
    return secrets


def of_text(text: str) -> set[str]:
    """Return the secrets in any other value: parts of addresses, and what looks like a key."""
    secrets = {match[0] for match in _KEYLIKE.finditer(text)}
    return secrets.union(*map(of_address, _ADDRESS.findall(text)))


def of_words(args: Sequence[str]) -> set[str]:
    """Return the secrets in a command's arguments: `--api-key X`, `--api-key=X`, `-H
    "Authorization: Bearer X"`, `-e TOKEN=X`, and the same inside `sh -c "…"`."""
    secrets: set[str] = set()
    option = ""
    for word in args:
        if option and not word.startswith("-"):
            secrets |= of_named(word)
        else:
            secrets |= _of_word(word)
        option = word if word.startswith("-") and is_secret_name(word) else ""
    return secrets


def _of_word(word: str) -> set[str]:
    secrets = of_text(word)
    for pattern in (_HEADER, _ASSIGNED):
        match = pattern.fullmatch(word)
        if match is None:
            continue
        if is_secret_name(match["name"]):
            secrets |= of_named(match["value"])
        elif pattern is _ASSIGNED and not _ADDRESS.match(word):
            secrets |= _of_word(match["value"])  # --header=X-Api-Key: …
    if len(parts := _split(word)) > 1:
        secrets |= of_words(parts)
    return secrets


def of_address(text: str) -> set[str]:
    """Return the password in an address, its parameters with a secret's name, and random parts of
    its path; each as written and unquoted."""
    if _ADDRESS.fullmatch(text) is None:
        return set()
    try:
        parts = urlsplit(text)
    except ValueError:
        return set()
    user, colon, password = parts.netloc.rpartition("@")[0].partition(":")
    secrets = {password} if colon else set(_OPAQUE.findall(user))  # https://TOKEN@host
    for pair in (*parts.query.split("&"), *parts.fragment.split("&")):
        name, _, value = pair.partition("=")
        if is_secret_name(name):
            secrets |= {value, value.replace("+", " ")}
    secrets |= {part for part in parts.path.split("/") if _OPAQUE.fullmatch(part)}
    written = {each for one in secrets for each in (one, unquote(one)) if each}
    return {each for each in written if not _REFERENCE.fullmatch(each)}


def of_environment(environment: Mapping[str, str]) -> set[str]:
    """Return the secrets in the variables that commands inherit, without paths, numbers and plain
    words: those occur everywhere, and would be removed from every file."""
    secrets: set[str] = set()
    for name, value in environment.items():
        secrets |= of_text(value)
        if is_secret_name(name):
            secrets |= of_named(value)
        elif name.lower().endswith("_url") or "://" in value:
            secrets |= of_address(value)
    return {each for each in secrets if not _is_common(each)}


def _is_common(text: str) -> bool:
    if text.startswith(("/", "~", "./", "../")):
        return True
    return (text.isalpha() and len(text) < _WORD) or (text.isdecimal() and len(text) < _WORD)


def _of_basic(encoded: str) -> set[str]:
    try:
        plain = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return set()
    return {plain.partition(":")[2]} - {""}


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError:
        return word.split()
