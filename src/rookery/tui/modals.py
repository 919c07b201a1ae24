"""Small windows over the screen: one line to fill in, a form, and the list of all keys.

A modal is a ModalScreen with its answer as the type: `app.push_screen(LineScreen(…), callback)`.
"""

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Checkbox, Input, Label, Select, Static

from rookery.core import forms, loose
from rookery.core.events import Json
from rookery.tui.look.plain import clean, clean_line


class Modal[Answer](ModalScreen[Answer | None]):
    """Esc leaves it without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", priority=True)]

    def action_leave(self) -> None:
        self.dismiss(None)


class LineScreen(Modal[str]):
    """One line of text; Enter takes it, also an empty one."""

    def __init__(self, question: str, text: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._text, self._hint = question, text, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(clean_line(self._question), classes="title", markup=False)
            yield Input(self._text, placeholder=self._hint, compact=True)
            yield Label("Enter sends it · Esc goes back", classes="hint", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class FormScreen(Modal[Json]):
    """A form of ACP's schema: fields in their order, checked before they leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", "send", priority=True, id="form.send"),
    ]

    def __init__(self, title: str, schema: Json, values: Json | None = None) -> None:
        super().__init__()
        self._title, self._schema, self._values = title, schema, values or {}
        self._fields = list(loose.mapping(schema, "properties").items())[:50]

    def compose(self) -> ComposeResult:
        needed = loose.texts(self._schema, "required")
        with Vertical(classes="window"):
            yield Label(clean_line(self._title), classes="title", markup=False)
            with VerticalScroll(classes="fields", can_focus=False):
                for number, (name, field) in enumerate(self._fields):
                    words = clean_line(loose.text(field, "title") or name)
                    mark = " (needed)" if name in needed else ""
                    yield Label(f"{words}{mark}", markup=False)
                    yield _control(field, self._values.get(name), f"field{number}")
                    if about := clean(loose.text(field, "description"))[:500]:
                        yield Label(about, classes="hint", markup=False)
            yield Static("", classes="problem", markup=False)
            yield Label("Ctrl+S sends it · Esc goes back", classes="hint", markup=False)

    def on_input_submitted(self) -> None:
        self.action_send()

    def action_send(self) -> None:
        answers = self._answers()
        wrong = forms.check(self._schema, answers)
        if not wrong:
            self.dismiss(answers)
            return
        words = "; ".join(f"{name} {why}" for name, why in wrong.items())
        self.query_one(".problem", Static).update(clean_line(words))

    def _answers(self) -> Json:
        answers: Json = {}
        for number, (name, field) in enumerate(self._fields):
            control = self.query_one(f"#field{number}")
            value: Any = None
            if isinstance(control, Checkbox):
                value = control.value
            elif isinstance(control, Select):
                value = None if control.is_blank() else control.value
            elif isinstance(control, Input):
                value = _typed(field, control.value)
            if value not in (None, ""):
                answers[name] = value
        return answers


def _control(field: Any, value: Any, name: str) -> Input | Checkbox | Select[str]:
    given = field.get("default") if isinstance(field, dict) and value is None else value
    if loose.text(field, "type") == "boolean":
        return Checkbox("yes", value=given is True, id=name, compact=True)
    choices = forms.choices_of(field) if isinstance(field, dict) else []
    if choices and loose.text(field, "type") == "string":
        options = [(clean_line(choice) or "(empty)", choice) for choice in choices]
        if given in choices:
            return Select(options, value=given, id=name, compact=True)
        return Select(options, id=name, compact=True)
    shown = ", ".join(map(str, given)) if isinstance(given, list) else str(given or "")
    secret = loose.text(field, "format") == "password"
    return Input(clean_line(shown), id=name, compact=True, password=secret)


def _typed(field: Any, text: str) -> Any:
    """What was typed, as the type that the schema wants; what does not fit is told by the check."""
    match loose.text(field, "type"):
        case "integer" | "number":
            try:
                return int(text)
            except ValueError:
                pass
            try:
                return float(text)
            except ValueError:
                return text
        case "array":
            return [part.strip() for part in text.split(",") if part.strip()]
    return text


class KeysScreen(Modal[None]):
    """F1: every key that there is, with what it does."""

    def __init__(self, keys: list[tuple[str, str, str]]) -> None:
        """Each: where it works, the key, what it does."""
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="window tall"):
            yield Label("Keys", classes="title")
            with VerticalScroll():
                where = ""
                for place, key, words in self._keys:
                    if place != where:
                        where = place
                        yield Label(place, classes="section", markup=False)
                    yield Label(f"  {key:<22} {words}", markup=False)
            yield Label("Esc goes back", classes="hint")
