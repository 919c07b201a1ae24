"""A form as plain data: its fields, the values to begin with, what is wrong with values, and a way
to save them.

The fields are ACP's restricted JSON schema, as agents send it, with five words of our own:

- `hint`: shown in an empty field
- `called`: what an error calls the field, if not by its title
- `when`: {another field: the values with which this one is shown}
- `hints`: {another field: {its value: the description that then applies}}
- `ranged`: the description already says what is allowed
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from rookery.core.asks import forms
from rookery.core.json import Json, lenient

PASSWORD = "password"  # noqa: S105 - a field's format
LONGEST = 500
"""Characters of a description."""


class Saved(NamedTuple):
    """What came of saving or testing a form."""

    ok: bool
    words: str = ""
    """What to show."""
    wrong: Mapping[str, str] = {}
    """By field: what completes the sentence that begins with its name."""
    name: str = ""
    """What it is called now."""
    changes: tuple[str, ...] = ()
    """Keys that have another value now."""


class Form:
    """A subclass sets the attributes in its constructor, which may read files of the home."""

    title: str
    schema: Json
    values: Json
    tests: ClassVar[bool] = False
    """Whether it can be tested before it is saved."""
    save_label: ClassVar[str] = "Save"

    @property
    def fields(self) -> Json:
        return lenient.mapping(self.schema, "properties")

    def check(self, answers: Json) -> dict[str, str]:
        """What is wrong, by field."""
        return forms.check(self.schema, answers)

    def loosens(self, home: str, answers: Json) -> list[str]:
        """A sentence for each thing that would then happen without asking, and does not now."""
        del home, answers
        return []

    def save(self, home: str, answers: Json) -> Saved:
        """Answers that `check` has nothing against. What can be tested is tested first."""
        raise NotImplementedError

    def keep(self, home: str, answers: Json) -> Saved:
        """Save it untested."""
        return self.save(home, answers)

    def test(self, home: str, answers: Json) -> Saved:
        """Without saving."""
        raise NotImplementedError


def described(title: str, description: str = "", **more: Any) -> Json:
    """A field of our own forms, text by default."""
    return {"type": "string", "title": title, "description": description} | more


def choices(rows: Mapping[str, str]) -> list[Json]:
    """For `oneOf`, from values and titles."""
    return [{"const": value, "title": title} for value, title in rows.items()]


# --- what a field says -------------------------------------------------------------------------


def titled(field: Json) -> list[tuple[str, str]]:
    """The choices of a field: each value and its name."""
    names = {
        lenient.text(choice, "const"): lenient.text(choice, "title")
        for key in ("oneOf", "anyOf")
        for choice in lenient.mappings(field, key)
    }
    return [(value, names.get(value) or value) for value in forms.choices_of(field)]


def about(field: object) -> str:
    """Its description, and what is allowed."""
    said = [lenient.text(field, "description")[:LONGEST], allowed(field)]
    return " · ".join(words for words in said if words)


def allowed(field: Any) -> str:
    """What may be entered, if the control does not show it."""
    if lenient.flag(field, "ranged"):
        return ""
    kind = lenient.text(field, "type")
    if kind in ("integer", "number"):
        least, most = lenient.number(field, "minimum"), lenient.number(field, "maximum")
        words = ["a whole number" if kind == "integer" else "a number"]
        words += [] if least is None else [f"at least {least:g}"]
        words += [] if most is None else [f"at most {most:g}"]
        return ", ".join([words[0], f"{least:g} to {most:g}"] if len(words) > 2 else words)
    if kind not in SIZES or (kind == "string" and titled(field)):
        return ""
    few, many, unit = SIZES[kind]
    words = [f"at least {number}{unit}"] if (number := lenient.integer(field, few)) else []
    words += [f"at most {number}{unit}"] if (number := lenient.integer(field, many)) else []
    if kind == "string":
        return "; ".join([*words, *FORMATS.get(lenient.text(field, "format"), ())])
    return "; ".join(words) or "any number"


SIZES = {"string": ("minLength", "maxLength", " characters"), "array": ("minItems", "maxItems", "")}
FORMATS = {"email": ["an e-mail address"], "uri": ["an address"], "date": ["YYYY-MM-DD"]}


def complaint(name: str, field: object, why: str) -> str:
    """What is wrong with a field, as a sentence."""
    words = lenient.text(field, "called") or lenient.text(field, "title") or name
    return "Required" if why == forms.NEEDED else f"{words} {why}".replace(" : ", ": ")


def is_shown(field: object, values: Json) -> bool:
    """Whether a field belongs to what other fields say."""
    when = lenient.mapping(field, "when")
    return all(values.get(name) in wanted for name, wanted in when.items())


def hinted(field: object, values: Json) -> str | None:
    """The description that applies with the other fields' values; None: its own."""
    for name, by_value in lenient.mapping(field, "hints").items():
        said = lenient.text(by_value, str(values.get(name)))
        if said or str(values.get(name)) in by_value:
            return said
    return None


# --- what is in a field ------------------------------------------------------------------------


def typed(field: Any, text: str) -> Any:
    """What was entered, as the schema's type if possible; None: nothing."""
    if not text:
        return None
    match lenient.text(field, "type"):
        case "integer" | "number":
            for kind in (int, float):
                with suppress(ValueError):
                    return kind(text)
        case "array":
            return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return text


def spelled(value: Any) -> str:
    """As it stands in a line of text."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def is_secret(field: object) -> bool:
    return lenient.text(field, "format") == PASSWORD


_KEY = re.compile(r"[a-z]+(?:_[a-z]+)+")


def in_titles(text: str, called: Mapping[str, str]) -> str:
    """In words of a form: what another field is called, not its key; of a command, all stays."""

    def title(key: re.Match[str]) -> str:
        return f"“{called[key[0]]}”" if key[0] in called else key[0]

    parts = text.split("`")
    parts[::2] = [_KEY.sub(title, each) for each in parts[::2]]
    return "'".join(parts)
