"""One field of a form: its control, and the value in it."""

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Select

from rookery.core.asks import forms
from rookery.core.json import lenient
from rookery.forms.form import spelled, typed
from rookery.render.runs import clean_line
from rookery.tui.windows.parts.text_line import TextLine


class Tick(Checkbox):
    """A checkbox whose state is a sign, not only a colour."""

    @property
    def _button(self) -> Content:
        sign = "[✓]" if self.value else "[ ]"
        return Content.assemble((sign, self.get_visual_style("toggle--button")))


class Ticks(Vertical):
    """Checkboxes for any number of choices."""

    def __init__(self, choices: list[forms.Choice], chosen: list[Any], name: str) -> None:
        super().__init__(id=name)
        self._choices, self._first = choices, chosen

    def compose(self) -> ComposeResult:
        for each in self._choices:
            yield Tick(_title(each), value=each.value in self._first, compact=True)

    @property
    def chosen(self) -> list[str]:
        ticks = self.query(Tick)
        return [each.value for tick, each in zip(ticks, self._choices, strict=True) if tick.value]


def control_of(field: Any, value: Any, name: str) -> Widget:
    """Create the control for a field, whatever its schema, even a damaged one."""
    given = field.get("default") if isinstance(field, dict) and value is None else value
    kind, choices = lenient.text(field, "type", "string"), forms.choices(field)
    if kind == "boolean":
        return Tick("yes", value=given is True, id=name, compact=True)
    if choices and kind == "array":
        return Ticks(choices, given if isinstance(given, list) else [], name)
    if choices and kind == "string":
        options = [(_title(each), each.value) for each in choices]
        chosen = {"value": given} if given in [each.value for each in choices] else {}
        return Select(options, id=name, compact=True, prompt="nothing chosen", **chosen)
    hint, secret = clean_line(lenient.text(field, "hint")), forms.is_secret(field)
    return TextLine(spelled(given), id=name, placeholder=hint, secret=secret)


def _title(choice: forms.Choice) -> str:
    """Return a choice's name and what it means without markup, and never empty."""
    text = f"{choice.name}: {choice.about}" if choice.about else choice.name
    return clean_line(text).replace("[", "\\[") or "(empty)"


def value_of(control: Widget, field: Any) -> Any:
    """Return what was entered, converted to the schema's type if possible, or None if
    nothing was."""
    if isinstance(control, Checkbox):
        return control.value
    if isinstance(control, Ticks):
        return control.chosen or None
    if isinstance(control, Select):
        return None if control.is_blank() else control.value
    if isinstance(control, TextLine):
        return typed(field, control.text)
    return None
