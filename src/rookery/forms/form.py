"""A form as plain data: its fields, the initial values, validation, and a way to save them.

The fields are ACP's restricted JSON schema, as agents send it, with five keywords of our own:

- `hint`: shown in an empty field - `when`: {another field: the values with which this one is shown}
- `hints`: {another field: {its value: the description that then applies}} - `ranged`: the
description already says what is allowed - `clears`: a saved secret can be removed
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.core.vendors.options import TRUTHS

PASSWORD = "password"  # noqa: S105 - a field's format
MAX_DESCRIPTION = 500
"""The longest description, in characters."""


class Saved(NamedTuple):
    """The outcome of saving or testing a form."""

    ok: bool
    message: str = ""
    """What to show."""
    wrong: Mapping[str, str] = {}
    """By field: what completes the sentence that begins with its name."""
    name: str = ""
    """What it is called now."""
    changes: tuple[str, ...] = ()
    """Keys that have another value now."""


class Form:
    """The base class of forms. A subclass sets the attributes in its constructor, which may read
    files of the home."""

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
        """Return what is wrong, by field."""
        return forms.check(self.schema, answers)

    def loosens(self, home: str, answers: Json) -> list[str]:
        """Return a sentence for each thing that saving would newly allow without asking."""
        del home, answers
        return []

    def save(self, home: str, answers: Json) -> Saved:
        """Save answers that `check` accepts. What can be tested is tested first."""
        raise NotImplementedError

    def keep(self, home: str, answers: Json) -> Saved:
        """Save the answers untested."""
        return self.save(home, answers)

    def test(self, home: str, answers: Json) -> Saved:
        """Test the answers without saving."""
        raise NotImplementedError


def described(title: str, description: str = "", **more: Any) -> Json:
    """Return a field of our own forms, text by default."""
    return {"type": "string", "title": title, "description": description} | more


def choices(rows: Mapping[str, str]) -> list[Json]:
    """Return the entries for `oneOf`, from values and titles."""
    return [{"const": value, "title": title} for value, title in rows.items()]


# --- what a field says -------------------------------------------------------------------------


def about(field: object) -> str:
    """Return a field's description, and what is allowed."""
    text, more = lenient.text(field, "description")[:MAX_DESCRIPTION], allowed(field)
    joined = f"{text} {more}." if text.endswith(".") else f"{text} · {more}"
    return joined if text and more else text or more


def allowed(field: Any) -> str:
    """Describe what may be entered, if the control does not show it."""
    if lenient.flag(field, "ranged"):
        return ""
    kind = lenient.text(field, "type")
    if kind in ("integer", "number"):
        least, most = lenient.number(field, "minimum"), lenient.number(field, "maximum")
        bounds = ["A whole number" if kind == "integer" else "A number"]
        bounds += [] if least is None else [f"at least {least:g}"]
        bounds += [] if most is None else [f"at most {most:g}"]
        return ", ".join([bounds[0], f"{least:g} to {most:g}"] if len(bounds) > 2 else bounds)
    if kind not in SIZES or (kind == "string" and forms.choices(field)):
        return ""
    few, many, unit = SIZES[kind]
    bounds = [f"At least {number}{unit}"] if (number := lenient.integer(field, few)) else []
    bounds += [f"At most {number}{unit}"] if (number := lenient.integer(field, many)) else []
    if kind == "string":
        return "; ".join([*bounds, *FORMATS.get(lenient.text(field, "format"), ())])
    return "; ".join(bounds) or "Any number"


SIZES = {"string": ("minLength", "maxLength", " characters"), "array": ("minItems", "maxItems", "")}
FORMATS = {"email": ["An e-mail address"], "uri": ["An address"], "date": ["YYYY-MM-DD"]}


def complaint(name: str, field: object, why: str) -> str:
    """Describe what is wrong with a field, as a sentence."""
    label = lenient.text(field, "title") or name
    return "Required" if why == forms.NEEDED else f"{label} {why}".replace(" : ", ": ")


def is_shown(field: object, values: Json) -> bool:
    """Return whether a field is shown, given the values of other fields."""
    when = lenient.mapping(field, "when")
    return all(values.get(name) in wanted for name, wanted in when.items())


def hinted(field: object, values: Json) -> str | None:
    """Return the description that applies with the other fields' values; None for the
    field's own."""
    for name, by_value in lenient.mapping(field, "hints").items():
        hint = lenient.text(by_value, str(values.get(name)))
        if hint or str(values.get(name)) in by_value:
            return hint
    return None


# --- what is in a field ------------------------------------------------------------------------


def typed(field: Any, text: str) -> Any:
    """Convert what was entered to the schema's type if possible; None for nothing."""
    if not text:
        return None
    match lenient.text(field, "type"):
        case "integer" | "number":
            for kind in (int, float):
                with suppress(ValueError):
                    return kind(text)
        case "boolean":
            return TRUTHS.get(text.lower(), text)
        case "array":
            return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return text


def spelled(value: Any) -> str:
    """Return a value as text for one line."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


_KEY = re.compile(r"[a-z]+(?:_[a-z]+)+")


def in_titles(text: str, called: Mapping[str, str]) -> str:
    """Replace the keys of other fields in a text by their titles; commands stay as they are."""

    def title(key: re.Match[str]) -> str:
        return f"“{called[key[0]]}”" if key[0] in called else key[0]

    parts = text.split("`")
    parts[::2] = [_KEY.sub(title, each) for each in parts[::2]]
    return "'".join(parts)
