"""One field of a form: its control, and the value in it."""

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Select

from rookery.core.json import lenient
from rookery.forms.form import is_secret, spelled, titled, typed
from rookery.render.runs import clean_line
from rookery.tui.windows.parts.text_line import TextLine

MAX_FIELDS = 50
"""How many fields of one form are shown."""


class Tick(Checkbox):
    """A checkbox whose state is a sign, not only a colour."""

    @property
    def _button(self) -> Content:
        sign = "[✓]" if self.value else "[ ]"
        return Content.assemble((sign, self.get_visual_style("toggle--button")))


class Ticks(Vertical):
    """Checkboxes for any number of choices."""

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
    """Create the control for a field, whatever its schema, even a damaged one."""
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


def _line(field: Any, given: Any, name: str) -> TextLine:
    hint = clean_line(lenient.text(field, "hint"))
    return TextLine(spelled(given), id=name, placeholder=hint, secret=is_secret(field))


def _plain(title: str) -> str:
    """Return the title without markup, and never empty."""
    return clean_line(title).replace("[", "\\[") or "(empty)"


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
