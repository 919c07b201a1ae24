"""Secrets that cannot be printed by mistake, and their removal from what is written or sent."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rookery.models import credentials

HIDDEN = "[redacted]"

SHORTEST = 6
"""Characters: a shorter secret is also part of ordinary words, and protects nothing."""


class Secret:
    """A text that only `reveal` returns: print, format, logging and json do not show it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)" if self._text else "Secret()"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


NONE = Secret("")


def secrets_in(value: object, *, named: bool = False) -> set[str]:
    """Return every text with a secret's name, and the secrets in other texts."""
    match value:
        case str():
            return credentials.of_named(value) if named else credentials.of_text(value)
        case Mapping():
            return {
                text
                for key, inner in value.items()
                for text in secrets_in(inner, named=named or credentials.is_secret_name(str(key)))
            }
        case list() | tuple():
            texts = [inner for inner in value if isinstance(inner, str)]
            secrets = set() if named else credentials.of_words(texts)
            return secrets.union(*(secrets_in(inner, named=named) for inner in value))
    return set()


COLOUR = r"(?:(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)\[[0-9;:?]*[A-Za-z])*"
"""Colour codes between the letters that a program prints, raw or as in JSON."""

_CODE = re.compile(r"\x1b|\\u001[bB]|\\x1[bB]|\\033")
_COLOURS = re.compile(COLOUR)
_BEGUN = re.compile(r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)(?:\[[0-9;:?]*)?$|\\(?:u0?0?1?|x1?|03?)?$")
"""A code that is cut off at the end of a text."""

HEAD = 4
CODES = 32
"""Characters of colour codes per letter, up to which a secret in pieces is recognized."""


class Pattern:
    """Matches all forms of all secrets. The slower pattern, for texts with colour codes, is
    compiled on demand."""

    def __init__(self, forms: frozenset[str]) -> None:
        # The longest first: one secret may begin another.
        self._ordered = sorted(forms, key=len, reverse=True)
        self._plain = re.compile("|".join(map(re.escape, self._ordered)))
        self._coloured: re.Pattern[str] | None = None

    def of(self, text: str) -> re.Pattern[str]:
        if not _CODE.search(text):
            return self._plain
        if self._coloured is None:
            forms = (COLOUR.join(map(re.escape, word)) for word in self._ordered)
            self._coloured = re.compile("|".join(forms))
        return self._coloured


class Redactor:
    """Removes known secrets from texts and JSON, including their forms inside JSON and with colour
    codes between their letters. Other encodings, and secrets split over lines, are not detected."""

    def __init__(self, secrets: Iterable[Secret | str] = ()) -> None:
        self._known: frozenset[str] = frozenset()
        self._forms: frozenset[str] = frozenset()
        self._pattern: Pattern | None = None
        self.learn(secrets)

    def learn(self, secrets: Iterable[Secret | str]) -> None:
        """Remove these from now on, too. May be called from any thread."""
        plain = {each.reveal() if isinstance(each, Secret) else each for each in secrets}
        known = self._known | {text for text in plain if len(text) >= SHORTEST}
        if known == self._known:
            return
        self._known = known
        self._forms = known | {json.dumps(text)[1:-1] for text in known}
        self._pattern = Pattern(self._forms)

    def in_pieces(self) -> "Pieces":
        """Return a redactor for a text that arrives in pieces, which may cut a secret in two."""
        return Pieces(self._pattern, self._forms)

    def text(self, text: str) -> str:
        return self._pattern.of(text).sub(HIDDEN, text) if self._pattern else text

    def json(self, value: Any) -> Any:
        """Return the value without secrets in its texts and keys."""
        if self._pattern is None:
            return value
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(str(key)): self.json(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self.json(inner) for inner in value]
        return value


class Pieces:
    """Redacts a stream of text, holding back only what could still become a secret."""

    def __init__(self, pattern: Pattern | None, forms: frozenset[str]) -> None:
        self._pattern = pattern
        self._forms = forms
        self._begun_by = {form[0] for form in forms}
        self._heads = {form[:HEAD] for form in forms}
        self._longest = max(map(len, forms), default=0)
        self.held = ""

    def feed(self, text: str) -> str:
        text, self.held = self.held + text, ""
        if self._pattern is None:
            return text
        shown, at, end = [], 0, self._open(text, 0)
        for match in self._pattern.of(text).finditer(text):
            if match.start() >= end:
                break
            shown += [text[at : match.start()], HIDDEN]
            at = match.end()
            end = self._open(text, at) if at > end else end
        self.held = text[end:]
        return "".join([*shown, text[at:end]])

    def flush(self) -> str:
        """Return what is still held back at the end."""
        held, self.held = self.held, ""
        return self._pattern.of(held).sub(HIDDEN, held) if self._pattern else held

    def _open(self, text: str, least: int) -> int:
        """The position where a secret may begin at the end of a text, else its length."""
        end = text[-CODES * self._longest :]
        coded = "\x1b" in end or "\\" in end
        near = len(text) - (CODES * self._longest if coded else self._longest - 1)
        for at in range(max(least, near, 0), len(text)):
            if text[at] not in self._begun_by:
                continue
            head = text[at : at + HEAD]
            if not coded and len(head) == HEAD and head not in self._heads:
                continue  # a closer look is slow, and secrets can be long
            begun = _BEGUN.sub("", _COLOURS.sub("", text[at:]))
            if any(len(form) > len(begun) and form.startswith(begun) for form in self._forms):
                return at
        return len(text)


KNOWN = Redactor()
"""Every key and token that this process was given: whatever it sends or writes passes through here.
A process that is forked or started later does not know them."""
