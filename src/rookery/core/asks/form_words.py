"""A form in words: what can be chosen, and what was."""

from typing import Any, NamedTuple

from rookery.core.asks import forms
from rookery.core.json import lenient
from rookery.core.json.events import Json

LONGEST = 200
"""Characters of one answer that is told."""
MOST = 10
"""Fields of an answer that are told."""
_SECRETS = ("isSecret", "secret")


class Choice(NamedTuple):
    value: str
    name: str
    about: str

    @property
    def words(self) -> str:
        """As it is listed: its name, then what would be typed for it where that is another."""
        name = self.name if self.name == self.value else f"{self.name} ({self.value})"
        return f"{name}: {self.about}" if self.about else name


def choices(field: Any) -> list[Choice]:
    """What a field lets choose from, one or several; empty: it is free."""
    field = lenient.mapping(field, "items") or field
    told = {
        lenient.text(each, "const"): each
        for key in ("oneOf", "anyOf")
        for each in lenient.mappings(field, key)
    }
    values = forms.choices_of(field) if isinstance(field, dict) else []
    names = lenient.texts(field, "enumNames")
    titles = dict(zip(values, names, strict=False)) if len(names) == len(values) else {}
    found = []
    for value in values:
        name = lenient.text(told.get(value), "title") or titles.get(value) or value
        found.append(Choice(value, name, lenient.text(told.get(value), "description")))
    return found


def listed(schema: Json) -> list[str]:
    """The fields that let choose, each with its choices on a line."""
    found = []
    for name, field in list(lenient.mapping(schema, "properties").items())[:MOST]:
        if names := [" ".join(choice.name.split()) for choice in choices(field)]:
            found.append(f"{lenient.text(field, 'title') or name}: {', '.join(names)}")
    return found


def value_of(field: Any, text: str) -> str:
    """The value that is meant by a choice's name; anything else as it is."""
    known = choices(field)
    if any(choice.value == text for choice in known):
        return text
    return next((choice.value for choice in known if choice.name.lower() == text.lower()), text)


def answer(schema: Json, content: Json) -> str:
    """What was answered: of one field its value alone, of several each with its name."""
    fields = lenient.mapping(schema, "properties")
    told = [(name, _told(fields.get(name), value)) for name, value in content.items()]
    said = [(name, words) for name, words in told if words][:MOST]
    if len(said) == 1:
        return said[0][1]
    return ", ".join(f"{lenient.text(fields.get(n), 'title') or n}: {words}" for n, words in said)


def _told(field: object, value: object) -> str:
    if value in (None, "", []) or not isinstance(value, str | bool | int | float | list):
        return ""
    if _is_secret(field):
        return "(not shown)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    names = {choice.value: choice.name for choice in choices(field)}
    each = value if isinstance(value, list) else [value]
    words = ", ".join(
        names.get(item, item) if isinstance(item, str) else str(item) for item in each
    )
    return lenient.first_line(words, LONGEST)


def _is_secret(field: object) -> bool:
    spaces = lenient.mapping(field, "_meta").values()
    marked = any(lenient.flag(space, key) for space in spaces for key in _SECRETS)
    return marked or lenient.text(field, "format") == "password"
