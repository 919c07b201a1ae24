"""The saved models, and the one form in which a model is set up: tested with one call before it is
kept."""

from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.widgets import Select

from rookery.core import forms
from rookery.core.events import Json
from rookery.models import glance
from rookery.models.providers import PROVIDERS, Provider, find, key_variable
from rookery.tui import bindings, errand
from rookery.tui.forms.form import FormScreen
from rookery.tui.forms.rows import Row, RowsScreen
from rookery.tui.modals import SureScreen
from rookery.tui.shell import Shell

OTHER = "other"
SERVER = "openai-compatible"

FIELDS = {
    "--provider": "provider",
    "--model": "model",
    "--key": "key",
    "--key-env": "key",
    "--key-stdin": "key",
    "--base-url": "base_url",
    "--timeout": "timeout",
    "--name": "name",
}
"""The flags of `rookery setup`, and the fields that they come from."""


class Wanted(NamedTuple):
    """A command of `rookery setup`; the key goes to its stdin."""

    words: tuple[str, ...]
    key: str = ""


def schema(known: glance.Saved | None) -> Json:
    choices = [{"const": each.name, "title": each.title} for each in PROVIDERS]
    choices.append({"const": OTHER, "title": "Another one: its model is PROVIDER/MODEL"})
    kept = "kept as it is" if known and known.has_key else ""
    fields: Json = {
        "provider": {"type": "string", "title": "Provider", "oneOf": choices},
        "model": {"type": "string", "title": "Model"},
        "key": {"type": "string", "title": "Key", "format": "password", "hint": kept},
        "base_url": {
            "type": "string",
            "title": "Address",
            "description": "of another server than the provider's own, such as http://host/v1",
        },
        "name": {
            "type": "string",
            "title": "Name",
            "pattern": r"^[\w.+-]{1,64}$",
            "description": "what you call it; empty: a fitting one",
        },
        "timeout": {
            "type": "number",
            "title": "Timeout",
            "minimum": 1,
            "maximum": 3600,
            "description": "seconds for one answer; empty: as usual",
        },
        "default": {"type": "boolean", "title": "New sessions use it"},
    }
    if known is not None:
        del fields["name"]
    return {"properties": fields, "required": ["provider", "model"]}


def values(known: glance.Saved | None) -> Json:
    if known is None:
        return {"provider": PROVIDERS[0].name, "default": True}
    provider = _provider(known)
    prefix = f"{provider.prefix}/" if provider else ""
    return {
        "provider": provider.name if provider else OTHER,
        "model": known.model.removeprefix(prefix),
        "base_url": known.base_url,
        "timeout": known.timeout,
        "default": known.default,
    }


def _provider(known: glance.Saved) -> Provider | None:
    prefix = known.model.partition("/")[0]
    if prefix == "openai" and known.base_url:
        return find(SERVER)
    return find(prefix)


def wanted(answers: Json, known: glance.Saved | None) -> Wanted:
    """The command that sets it up."""
    words = ["setup", "--json", "--model", answers["model"]]
    if answers["provider"] != OTHER:
        words += ["--provider", answers["provider"]]
    address = answers.get("base_url", "")
    if address or known is not None:
        words += ["--base-url", address or "none"]
    if "timeout" in answers or known is not None:
        words += ["--timeout", str(answers.get("timeout", 0))]
    name = known.name if known else answers.get("name", "")
    words += ["--name", name] if name else []
    words += ["--default"] if answers.get("default") else []
    key = answers.get("key", "")
    words += ["--key-stdin"] if key else []
    return Wanted(tuple(words), key)


class ModelForm(FormScreen):
    """Ends with {"words": …} when the model was saved."""

    BINDINGS: ClassVar[list[BindingType]] = bindings.MODEL

    def __init__(self, known: glance.Saved | None = None) -> None:
        title = f"Model: {known.name}" if known else "Set up a model"
        super().__init__(title, schema(known), values(known))
        self._known = known
        self._busy = False

    def on_select_changed(self, event: Select.Changed) -> None:
        """What is known of a provider stands under its fields."""
        provider = next((each for each in PROVIDERS if each.name == event.value), None)
        if provider is None:
            self.describe("model", "PROVIDER/MODEL, such as openrouter/…, groq/…, bedrock/…")
            self.describe("key", "")
            return
        such = ", ".join(provider.models)
        self.describe("model", f"such as {such}" if such else "as the server calls it")
        self.describe("key", _about_key(provider))
        needed = "needed: " if provider.asks_url and not provider.api else ""
        usual = f"usually {provider.api}" if provider.asks_url and provider.api else ""
        self.describe("base_url", usual or f"{needed}another server, such as http://host/v1")

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if answers.get("provider") == SERVER and not answers.get("base_url"):
            wrong["base_url"] = forms.NEEDED
        return wrong

    def deliver(self, answers: Json) -> None:
        self._run(answers, "Asking the model for a word …")

    def action_test(self) -> None:
        self._checked("Asking the model for a word …", "--test")

    def action_keep(self) -> None:
        self._checked("Saving …", "--no-test")

    def _checked(self, words: str, flag: str) -> None:
        answers = self.answers()
        wrong = self.check(answers)
        self.mark(wrong)
        if not wrong:
            self._run(answers, words, flag)

    def _run(self, answers: Json, words: str, flag: str = "") -> None:
        if self._busy:
            return
        self._busy = True
        self.tell(words)
        shell = self.app
        assert isinstance(shell, Shell)
        made = wanted(answers, self._known)
        line = (*made.words, *([flag] if flag else []))
        shell.room.fetch(
            lambda: errand.run(shell.start.home, *line, text=made.key),
            lambda outcome: self._ended(outcome, saved=flag != "--test"),
        )

    def _ended(self, outcome: errand.Outcome, *, saved: bool) -> None:
        self._busy = False
        if not self.is_attached:
            return
        if outcome.ok and saved:
            self.dismiss({"words": outcome.words})
            return
        field = FIELDS.get(outcome.option, "")
        if field in dict(self.fields):
            self.mark({field: f": {outcome.words}"})
        elif outcome.ok:
            self.tell(f"{outcome.words} Nothing was saved yet.")
        else:
            self.tell(f"✗ {outcome.words} Nothing was saved; Ctrl+O saves it untested.")


def _about_key(provider: Provider) -> str:
    if provider.keyless:
        return "needs none"
    variable = key_variable(f"{provider.prefix}/") if provider.name != SERVER else ""
    said = [f"you get one at {provider.key_url}" if provider.key_url else ""]
    said.append(f"empty: {variable}, where that is set" if variable else "empty: none is sent")
    return "; ".join(words for words in said if words)


class ModelsScreen(RowsScreen[None]):
    """Every saved model."""

    HEADING = "Models of Rookery's own agent"
    EMPTY = "No model is set up yet. {key} sets one up."
    NEW = "models.new"
    BINDINGS: ClassVar[list[BindingType]] = bindings.MODELS

    def load(self) -> glance.Glance:
        return glance.glance(self.shell.start.home)

    def shown(self, found: glance.Glance) -> list[Row]:
        self._found = {each.name: each for each in found.models}
        if found.problem:
            self.tell(found.problem)
        return [
            Row(each.name, each.name, _told(each), "on", "default" if each.default else "")
            for each in found.models
        ]

    def choose(self, row: Row) -> None:
        self.app.push_screen(ModelForm(self._found[row.name]), self._saved)

    def action_new(self) -> None:
        self.app.push_screen(ModelForm(), self._saved)

    def _saved(self, answer: Json | None) -> None:
        if answer is not None:
            self._changed(errand.Outcome(True, answer["words"]))

    def action_default(self) -> None:
        if self.current:
            self._do("setup", "--name", self.current.name, "--default")

    def action_test(self) -> None:
        if self.current:
            self.tell(f"Asking {self.current.name} for a word …")
            self._do("setup", "--json", "--test", "--name", self.current.name)

    def action_remove(self) -> None:
        if (row := self.current) is None:
            return

        def sure(yes: bool | None) -> None:
            if yes:
                self._do("setup", "--remove", row.name)

        words = "Its key is forgotten. Sessions that use it need another model."
        self.app.push_screen(SureScreen(f"Remove the model {row.name}?", words), sure)

    def _do(self, *words: str) -> None:
        home = self.shell.start.home
        self.shell.room.fetch(lambda: errand.run(home, *words), self._changed)

    def _changed(self, outcome: errand.Outcome) -> None:
        if self.is_attached:
            self.reload()
            self.tell(outcome.words if outcome.ok else f"✗ {outcome.words}")
        self.shell.look_around()


def _told(each: glance.Saved) -> str:
    key = "key saved" if each.has_key else "no key saved"
    said = [each.model, each.base_url, key]
    return " · ".join(words for words in said if words)
