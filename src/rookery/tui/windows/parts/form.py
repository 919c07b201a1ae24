"""Forms made from an ACP schema: the fields in order, checked before they are sent."""

from collections.abc import Callable, Mapping

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.forms.form import Form, Saved, about, complaint, hinted, is_shown
from rookery.render.runs import clean, clean_line
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.fields import control_of, value_of
from rookery.tui.windows.parts.modals import Modal


class FormScreen(Modal[Json]):
    """A form; returns the answers. A subclass that tries them first overrides `deliver`."""

    BINDINGS = bindings.FORM
    KIND = "window form"

    def __init__(
        self, title: str, schema: Json, values: Json | None = None, first: str = ""
    ) -> None:
        """`first`: the field where the cursor begins; "": the first one."""
        super().__init__(title)
        self._first = first
        self._schema, self._values = schema, values or {}
        self.fields = forms.fields_of(schema)

    def body(self) -> ComposeResult:
        with VerticalScroll(classes="fields", can_focus=False):
            for number in range(len(self.fields)):
                yield from self._field(number)
        yield Static("", classes="problem told quiet", id="told", markup=False)

    def _field(self, number: int) -> ComposeResult:
        field = self.fields[number]
        title = clean_line(field.title) + (" (required)" if field.required else "")
        note = clean(about(field.schema))
        with Vertical(classes="field"):
            yield Label(title, markup=False, classes="name")
            yield control_of(field.schema, self._values.get(field.name), f"field{number}")
            yield Static("", classes="problem", id=f"wrong{number}", markup=False)
            yield Static(note, classes="hint", id=f"about{number}", markup=False)

    def on_mount(self) -> None:
        for number in range(len(self.fields)):
            about = self.query_one(f"#about{number}", Static)
            about.display = bool(str(about.content))
            self.query_one(f"#wrong{number}", Static).display = False
        if self.fields:  # at once: the first key is meant for it
            names = [each.name for each in self.fields]
            at = names.index(self._first) if self._first in names else 0
            self.set_focus(self._focusable(at), scroll_visible=False)

    def _focusable(self, number: int) -> Widget:
        control = self.query_one(f"#field{number}")
        return control if control.focusable else control.query("Tick").first(Widget)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Scroll to show the whole field, with its name and hint; to the top for the first one,
        even before the layout is known."""
        field = next((each for each in event.widget.ancestors if each.has_class("field")), None)
        for each in self.query(".field"):
            each.set_class(each is field, "here")
        if isinstance(field, Widget):
            fields = self.query_one(".fields")
            top = field is fields.children[0]
            scroll = fields.scroll_home if top else field.scroll_visible
            self.call_after_refresh(scroll, animate=False)

    # --- input ---------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_send()

    def action_send(self) -> None:
        if (answers := self.checked()) is not None:
            self.deliver(answers)

    def checked(self) -> Json | None:
        """Return the answers, or show what is wrong with them and return None."""
        answers = self.answers()
        wrong = self.check(answers)
        self.mark(wrong)
        return None if wrong else answers

    def answers(self) -> Json:
        values = {each.name: value_of(self.control(each.name), each.schema) for each in self.fields}
        return {name: value for name, value in values.items() if value is not None}

    def check(self, answers: Json) -> dict[str, str]:
        """Return what is wrong, by field."""
        return forms.check(self._schema, answers)

    def deliver(self, answers: Json) -> None:
        self.dismiss(answers)

    # --- messages ------------------------------------------------------------------------------

    def _number(self, name: str) -> int:
        return [each.name for each in self.fields].index(name)

    def control(self, name: str) -> Widget:
        return self.query_one(f"#field{self._number(name)}")

    def mark(self, wrong: Mapping[str, str]) -> None:
        """Show under each field what is wrong with it, and go to the first."""
        first = None
        for number, (name, *_, field) in enumerate(self.fields):
            line = self.query_one(f"#wrong{number}", Static)
            line.display = name in wrong
            line.update(clean_line(f"✗ {complaint(name, field, wrong.get(name, ''))}"))
            first = number if first is None and name in wrong else first
        self.tell("")
        if first is not None:
            self._focusable(first).focus()

    def tell(self, text: str) -> None:
        """Show a line under the fields."""
        status = self.query_one("#told", Static)
        status.update(clean_line(text))
        status.set_class(not text, "quiet")

    def describe(self, name: str, hint: str) -> None:
        """Change the hint of a field."""
        about = self.query_one(f"#about{self._number(name)}", Static)
        about.display = bool(hint)
        about.update(clean_line(hint))


class SavedForm(FormScreen):
    """A form of our own; returns {"words", "name", "changes"} when it was saved."""

    BINDINGS = bindings.SAVED

    def __init__(self, form: Form, first: str = "") -> None:
        super().__init__(form.title, form.schema, form.values, first)
        self.form = form
        self.busy = False

    def on_select_changed(self) -> None:
        """Show only the fields that apply to the current choices, each with its hint."""
        answers = self.answers()
        for name, *_, field in self.fields:
            if lenient.mapping(field, "when"):
                parent = self.control(name).parent
                assert parent is not None
                parent.display = is_shown(field, answers)
            if (hint := hinted(field, answers)) is not None:
                self.describe(name, hint)

    def check(self, answers: Json) -> dict[str, str]:
        return self.form.check(answers)

    def deliver(self, answers: Json) -> None:
        self.run_form(lambda: self.form.save(self.home, answers), self.saved)

    def run_form(self, work: Callable[[], Saved], then: Callable[[Saved], object]) -> None:
        """Run the work unless some is already running."""
        if self.busy:
            return
        self.busy = True

        def done(outcome: Saved) -> None:
            self.busy = False
            then(outcome)

        self.fetch(work, done)

    def saved(self, outcome: Saved) -> None:
        if outcome.ok:
            answer = {"words": outcome.message, "name": outcome.name}
            self.dismiss({**answer, "changes": list(outcome.changes)})
        elif outcome.wrong:
            self.mark(outcome.wrong)
        else:
            self.tell(f"✗ {outcome.message}")
