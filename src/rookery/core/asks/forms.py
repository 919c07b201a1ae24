"""Describing an agent's forms as text, and checking the answers against the schema before they are
sent.

The schema is ACP's restricted JSON schema: one level of text, numbers, booleans and choices."""

import re
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient

NEEDED = "is required"


def check(schema: Json, content: Json) -> dict[str, str]:
    """Return what is wrong with each field, by its name; empty when the answer may be sent."""
    wrong: dict[str, str] = {}
    fields = lenient.mapping(schema, "properties")
    for name in lenient.texts(schema, "required"):
        if name in fields and content.get(name) in (None, ""):
            wrong[name] = NEEDED
    for name, value in content.items():
        field = fields.get(name)
        if not isinstance(field, dict):
            wrong[name] = "is not a field of this form"
        elif name not in wrong and value is not None and (problem := _check(field, value)):
            wrong[name] = problem
    return wrong


def _check(field: Json, value: Any) -> str:
    match field.get("type"):
        case "string":
            return _text(field, value)
        case "number" | "integer" as kind:
            return _number(field, value, whole=kind == "integer")
        case "boolean":
            return "" if isinstance(value, bool) else "must be yes or no"
        case "array":
            return _several(field, value)
        case [*kinds]:
            problems = [_check({**field, "type": kind}, value) for kind in kinds]
            return problems[0] if all(problems) else ""
        case "object":
            return "" if isinstance(value, dict) else "must be an object"
    return ""


def _text(field: Json, value: Any) -> str:
    if not isinstance(value, str):
        return "must be text"
    choices = choices_of(field)
    if choices and value not in choices:
        return f"must be one of {', '.join(choices)}"
    least, most = lenient.integer(field, "minLength"), lenient.integer(field, "maxLength")
    if least is not None and len(value) < least:
        return f"needs at least {least} characters"
    if most is not None and len(value) > most:
        return f"may have at most {most} characters"
    pattern = lenient.text(field, "pattern")
    if pattern and not _matches(pattern, value):
        return f"must match {pattern}"
    return _format(lenient.text(field, "format"), value)


def _matches(pattern: str, value: str) -> bool:
    """Whether a value matches a pattern; one that Python cannot compile is left to the agent."""
    try:
        return re.search(pattern, value[:10_000]) is not None
    except re.error:
        return True


_FORMATS = {
    "email": (r"[^@\s]+@[^@\s]+", "must be an e-mail address"),
    "uri": (r"[A-Za-z][A-Za-z0-9+.-]*:\S+", "must be a URL with a scheme, for example https:"),
    "date": (r"\d{4}-\d{2}-\d{2}", "must be a date (YYYY-MM-DD)"),
    "date-time": (r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}.*", "must be a date and time"),
}


def _format(name: str, value: str) -> str:
    pattern, problem = _FORMATS.get(name, ("", ""))
    return problem if pattern and not re.fullmatch(pattern, value) else ""


def _number(field: Json, value: Any, *, whole: bool) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        return "must be a number"
    if whole and value != int(value):
        return "must be a whole number"
    least, most = lenient.number(field, "minimum"), lenient.number(field, "maximum")
    if least is not None and value < least:
        return f"must be at least {least}"
    if most is not None and value > most:
        return f"must be at most {most}"
    return ""


def _several(field: Json, value: Any) -> str:
    of = dict if lenient.mapping(field, "items").get("type") == "object" else str
    if not isinstance(value, list) or not all(isinstance(item, of) for item in value):
        return f"must be a list of {'objects' if of is dict else 'choices'}"
    choices = choices_of(lenient.mapping(field, "items"))
    unknown = [item for item in value if choices and item not in choices]
    if unknown:
        return f"has no {', '.join(unknown)}; choose from {', '.join(choices)}"
    least, most = lenient.integer(field, "minItems"), lenient.integer(field, "maxItems")
    if least is not None and len(value) < least:
        return f"needs at least {least}"
    if most is not None and len(value) > most:
        return f"takes at most {most}"
    return ""


def choices_of(field: Json) -> list[str]:
    """Return the values that a choice field takes, however the schema spells them."""
    return lenient.texts(field, "enum") or [lenient.text(each, "const") for each in _titled(field)]


def _titled(field: object) -> list[Json]:
    return [*lenient.mappings(field, "oneOf"), *lenient.mappings(field, "anyOf")]


MAX_ANSWER_LENGTH = 200
"""Characters of one answer that are shown."""
MAX_ANSWERS = 10
"""How many fields of an answer are shown."""
MAX_FIELDS = 50
"""How many fields of a form are drawn."""
_SECRETS = ("isSecret", "secret")


class Choice(NamedTuple):
    value: str
    name: str
    about: str

    @property
    def line(self) -> str:
        """Return the line that lists the choice: its name, and the value if that differs."""
        name = self.name if self.name == self.value else f"{self.name} ({self.value})"
        return f"{name}: {self.about}" if self.about else name


def choices(field: Any) -> list[Choice]:
    """Return the choices of a field, for one or several of them; empty if any value will do."""
    field = lenient.mapping(field, "items") or field
    by_const = {lenient.text(each, "const"): each for each in _titled(field)}
    values = choices_of(field) if isinstance(field, dict) else []
    names = lenient.texts(field, "enumNames")
    titles = dict(zip(values, names, strict=False)) if len(names) == len(values) else {}
    options = []
    for value in values:
        name = lenient.text(by_const.get(value), "title") or titles.get(value) or value
        options.append(Choice(value, name, lenient.text(by_const.get(value), "description")))
    return options


class Field(NamedTuple):
    name: str
    title: str
    """What it is called: its name, if nothing else."""
    about: str
    required: bool
    schema: Any
    """Whatever stands there, even if it is damaged."""


def fields_of(schema: Json) -> list[Field]:
    """Return the fields of a form in their order, as every face draws them."""
    required = lenient.texts(schema, "required")
    fields = list(lenient.mapping(schema, "properties").items())[:MAX_FIELDS]
    return [Field(str(name), *_labels(name, each), name in required, each) for name, each in fields]


def _labels(name: str, field: object) -> tuple[str, str]:
    return lenient.text(field, "title") or str(name), lenient.text(field, "description")


def listed(schema: Json) -> list[str]:
    """Return a line for each field that offers choices, naming them."""
    known = [(field.title, choices(field.schema)) for field in fields_of(schema)[:MAX_ANSWERS]]
    return [
        f"{title}: {', '.join(' '.join(choice.name.split()) for choice in offered)}"
        for title, offered in known
        if offered
    ]


def value_of(field: Any, text: str) -> str:
    """Return the value that a choice's name stands for; any other text unchanged."""
    known = choices(field)
    if any(choice.value == text for choice in known):
        return text
    return next((choice.value for choice in known if choice.name.lower() == text.lower()), text)


def answer(schema: Json, content: Json) -> str:
    """Describe an answer: a single field by its value alone, several each with its name."""
    fields = lenient.mapping(schema, "properties")
    answers = [(name, _shown(fields.get(name), value)) for name, value in content.items()]
    shown = [(name, text) for name, text in answers if text][:MAX_ANSWERS]
    if len(shown) == 1:
        return shown[0][1]
    return ", ".join(f"{lenient.text(fields.get(n), 'title') or n}: {text}" for n, text in shown)


def _shown(field: object, value: object) -> str:
    if value in (None, "", []) or not isinstance(value, str | bool | int | float | list):
        return ""
    if is_secret(field):
        return "(not shown)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    names = {choice.value: choice.name for choice in choices(field)}
    each = value if isinstance(value, list) else [value]
    texts = [names.get(item, item) if isinstance(item, str) else str(item) for item in each]
    return lenient.first_line(", ".join(texts), MAX_ANSWER_LENGTH)


def is_secret(field: object) -> bool:
    """Whether a field's answer is hidden while it is typed, and wherever the answer is shown."""
    spaces = lenient.mapping(field, "_meta").values()
    marked = any(lenient.flag(space, key) for space in spaces for key in _SECRETS)
    return marked or lenient.text(field, "format") == "password"
