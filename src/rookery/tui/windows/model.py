"""The saved models, and the form that sets one up: tested with one call before it is saved."""

from collections.abc import Callable
from functools import partial

from textual.widgets import Select

from rookery.core.asks import forms
from rookery.core.json import Json
from rookery.models import profiles, setup
from rookery.models.draft import USUAL, Draft
from rookery.models.providers import PROVIDERS, Provider, find, key_variable
from rookery.models.secrets import Secret
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.fields import described
from rookery.tui.windows.parts.form import FormScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen

OTHER = "other"
SERVER = "openai-compatible"


def schema(known: profiles.Profile | None) -> Json:
    choices = [{"const": each.name, "title": each.title} for each in PROVIDERS]
    choices.append({"const": OTHER, "title": "Another one: write the model as PROVIDER/MODEL"})
    kept = "unchanged" if known and known.key else ""
    fields: Json = {
        "provider": described("Provider", oneOf=choices),
        "model": described("Model"),
        "key": described("Key", format="password", hint=kept),
        "base_url": described("Address", "if not the provider's own, such as http://host/v1"),
        "name": described(
            "Name", "how it is listed; empty: chosen for you", pattern=r"^[\w.+-]{1,64}$"
        ),
        "timeout": described(
            "Timeout",
            "seconds for one answer; empty: the default",
            type="number",
            minimum=1,
            maximum=3600,
        ),
        "default": described("Use it for new sessions", type="boolean"),
    }
    if known is not None:
        del fields["name"]
    return {"properties": fields, "required": ["provider", "model"]}


def values(known: profiles.Profile | None, *, default: bool) -> Json:
    if known is None:
        return {"provider": PROVIDERS[0].name, "default": True}
    provider = _provider(known)
    prefix = f"{provider.prefix}/" if provider else ""
    return {
        "provider": provider.name if provider else OTHER,
        "model": known.model.removeprefix(prefix),
        "base_url": known.base_url,
        "timeout": known.timeout,
        "default": default,
    }


def _provider(known: profiles.Profile) -> Provider | None:
    prefix = known.model.partition("/")[0]
    if prefix == "openai" and known.base_url:
        return find(SERVER)
    return find(prefix)


def drafted(answers: Json, known: profiles.Profile | None) -> Draft:
    """An empty field of a saved model resets it."""
    other = answers["provider"] == OTHER
    usual = (USUAL, 0.0) if known else ("", None)
    return Draft(
        "" if other else answers["provider"],
        answers["model"],
        Secret(answers.get("key", "").strip()),
        answers.get("base_url", "") or usual[0],
        known.name if known else answers.get("name", ""),
        answers.get("timeout", usual[1]),
    )


class ModelForm(FormScreen):
    """Ends with {"words": …} when the model was saved."""

    BINDINGS = bindings.MODEL

    def __init__(self, known: profiles.Profile | None = None, *, default: bool = False) -> None:
        title = f"Model: {known.name}" if known else "Set up a model"
        super().__init__(title, schema(known), values(known, default=default))
        self._known = known
        self._busy = False

    def on_select_changed(self, event: Select.Changed) -> None:
        """Hints for the provider's fields."""
        provider = next((each for each in PROVIDERS if each.name == event.value), None)
        if provider is None:
            self.describe("model", "PROVIDER/MODEL, such as openrouter/…, groq/…, bedrock/…")
            self.describe("key", "")
            return
        such = ", ".join(provider.models)
        self.describe("model", f"such as {such}" if such else "as the server names it")
        self.describe("key", _about_key(provider))
        needed = "required: " if provider.asks_url and not provider.api else ""
        usual = f"usually {provider.api}" if provider.asks_url and provider.api else ""
        self.describe("base_url", usual or f"{needed}another server, such as http://host/v1")

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if answers.get("provider") == SERVER and not answers.get("base_url"):
            wrong["base_url"] = forms.NEEDED
        return wrong

    def action_test(self) -> None:
        if (answers := self.checked()) is not None:
            self.deliver(answers, keep=False)

    def action_keep(self) -> None:
        if (answers := self.checked()) is not None:
            self.deliver(answers, test=False)

    def deliver(self, answers: Json, *, test: bool = True, keep: bool = True) -> None:
        if self._busy:
            return
        self._busy = True
        self.tell("Testing the model …" if test else "Saving …")
        home, draft = self.home, drafted(answers, self._known)
        default = bool(answers.get("default"))
        self.fetch(
            lambda: setup.attempt(home, draft, default=default, test=test, keep=keep),
            lambda outcome: self._ended(outcome, saved=keep),
        )

    def _ended(self, outcome: setup.Outcome, *, saved: bool) -> None:
        self._busy = False
        if outcome.ok and saved:
            self.dismiss({"words": outcome.words})
        elif outcome.field in dict(self.fields):
            self.mark({outcome.field: f": {outcome.words}"})
        elif outcome.ok:
            self.tell(f"{outcome.words} Not saved yet.")
        else:
            key = label(self.app, "model.keep")
            self.tell(f"✗ {outcome.words} Not saved; {key} saves it untested.")


def _about_key(provider: Provider) -> str:
    if provider.keyless:
        return "not needed"
    variable = key_variable(f"{provider.prefix}/") if provider.name != SERVER else ""
    said = [f"get one at {provider.key_url}" if provider.key_url else ""]
    said.append(f"empty: {variable}, if set" if variable else "empty: no key is sent")
    return "; ".join(words for words in said if words)


class ModelsScreen(RowsScreen[None]):
    HEADING = "Models of Rookery's own agent"
    EMPTY = "No models yet. {key} adds one."
    NEW = "models.new"
    REMOVES = (
        "Remove the model {}?",
        "Its key is deleted. Sessions that use it need another model.",
    )
    BINDINGS = bindings.MODELS

    def load(self) -> tuple[profiles.Settings, str]:
        return profiles.look(self.home)

    def shown(self, found: tuple[profiles.Settings, str]) -> list[Row]:
        self._saved, problem = found
        if problem:
            self.tell(problem)
        return [
            Row(each.name, each.name, _told(each), "on", "default" if self._leads(each) else "")
            for each in self._saved.profiles.values()
        ]

    def _leads(self, profile: profiles.Profile) -> bool:
        return profile == self._saved.chosen

    def choose(self, row: Row) -> None:
        known = self._saved.profiles[row.name]
        self.shell.ask(ModelForm(known, default=self._leads(known)), self._set_up)

    def action_new(self) -> None:
        self.shell.ask(ModelForm(), self._set_up)

    def _set_up(self, answer: Json) -> None:
        self._changed(setup.Outcome(True, answer["words"]))

    def action_default(self) -> None:
        if self.current:
            self._do(setup.use, self.current.name)

    def action_test(self) -> None:
        if self.current:
            self.tell(f"Testing {self.current.name} …")
            draft = Draft(name=self.current.name)
            self.fetch(partial(setup.attempt, self.home, draft, keep=False), self._changed)

    def drop(self, name: str) -> None:
        self._do(setup.forget, name)

    def _do(self, change: Callable[[str, str], str], name: str) -> None:
        work = partial(change, self.home, name)
        self.fetch(lambda: setup.outcome(work), self._changed)

    def _changed(self, outcome: setup.Outcome) -> None:
        self.ended(outcome.words if outcome.ok else f"✗ {outcome.words}")
        self.shell.look_around()


def _told(each: profiles.Profile) -> str:
    key = "key saved" if each.key else "no key saved"
    said = [each.model, each.base_url, key]
    return " · ".join(words for words in said if words)
