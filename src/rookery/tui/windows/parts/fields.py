"""One field of a form: its control, and the value in it."""

from contextlib import suppress
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select

from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.tui.look.runs import clean_line

MOST = 50
"""Fields shown of one form."""


def described(title: str, description: str = "", **more: Any) -> Json:
    """A field of our own forms, text by default."""
    return {"type": "string", "title": title, "description": description} | more


class Tick(Checkbox):
    """Its state is a sign, not only a colour."""

    @property
    def _button(self) -> Content:
        sign = "[✓]" if self.value else "[ ]"
        return Content.assemble((sign, self.get_visual_style("toggle--button")))


class Ticks(Vertical):
    """Any number of choices."""

    def __init__(self, choices: list[tuple[str, str]], chosen: list[Any], name: str) -> None:
        super().__init__(id=name)
        self._choices, self._first = choices, chosen

    def compose(self) -> ComposeResult:
        for value, title in self._choices:
            yield Tick(_plain(title), value=value in self._first, compact=True)

    @property
    def chosen(self) -> list[str]:
        ticks = self.query(Tick)
        return [value for tick, (value, _) in zip(ticks, self._choices, strict=True) if tick.value]


def control_of(field: Any, value: Any, name: str) -> Widget:
    """For any schema, even a damaged one."""
    given = field.get("default") if isinstance(field, dict) and value is None else value
    kind = lenient.text(field, "type")
    if kind == "boolean":
        return Tick("yes", value=given is True, id=name, compact=True)
    if kind == "array":
        items = titled(lenient.mapping(field, "items"))
        if items:
            return Ticks(items, given if isinstance(given, list) else [], name)
    choices = titled(field) if isinstance(field, dict) else []
    if choices and kind == "string":
        options = [(_plain(title), value) for value, title in choices]
        known = [value for value, _ in choices]
        chosen = {"value": given} if given in known else {}
        return Select(options, id=name, compact=True, prompt="nothing chosen", **chosen)
    return _line(field, given, name)


def _line(field: Any, given: Any, name: str) -> Input:
    shown = ", ".join(map(str, given)) if isinstance(given, list) else _spelled(given)
    hint = clean_line(lenient.text(field, "hint"))
    secret = lenient.text(field, "format") == "password"
    return Input(clean_line(shown), id=name, compact=True, password=secret, placeholder=hint)


def _plain(title: str) -> str:
    """Without markup, and not empty."""
    return clean_line(title).replace("[", "\\[") or "(empty)"


def _spelled(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def titled(field: Json) -> list[tuple[str, str]]:
    """The choices of a field: each value and its name."""
    names = {
        lenient.text(choice, "const"): lenient.text(choice, "title")
        for key in ("oneOf", "anyOf")
        for choice in lenient.mappings(field, key)
    }
    return [(value, names.get(value) or value) for value in forms.choices_of(field)]


def value_of(control: Widget, field: Any) -> Any:
    """What was entered, as the schema's type if possible; None: nothing."""
    if isinstance(control, Checkbox):
        return control.value
    if isinstance(control, Ticks):
        return control.chosen or None
    if isinstance(control, Select):
        return None if control.is_blank() else control.value
    if isinstance(control, Input):
        return _typed(field, control.value.strip())
    return None


def _typed(field: Any, text: str) -> Any:
    if not text:
        return None
    match lenient.text(field, "type"):
        case "integer" | "number":
            for kind in (int, float):
                with suppress(ValueError):
                    return kind(text)
        case "array":
            return [part.strip() for part in text.split(",") if part.strip()]
    return text


def allowed(field: Any) -> str:
    """What may be entered, if the control does not show it."""
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
