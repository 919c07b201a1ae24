"""The form for a saved model of Rookery's own agent, which is tested with one call before it is
saved."""

from collections.abc import Callable

from rookery.core.asks import forms
from rookery.core.json import Json
from rookery.forms.form import PASSWORD, Form, Saved, choices, described
from rookery.models import profiles, saved_models
from rookery.models.draft import USUAL, Draft
from rookery.models.providers import PROVIDERS, Provider, find, key_variable
from rookery.models.secrets import Secret

OTHER = "other"
SERVER = "openai-compatible"


class ModelForm(Form):
    tests = True
    save_label = "Test and save"

    def __init__(self, saved: profiles.Settings, name: str = "") -> None:
        """`name`: of a saved model; "" for a new one. Raises KeyError if there is none of this
        name."""
        known = saved.profiles[name] if name else None
        default = known is not None and known == saved.chosen
        self.title = f"Model: {known.name}" if known else "Set up a model"
        self.schema = _schema(known, _fallbacks(saved, known))
        values = _values(known, default=default)
        self.values = {key: values[key] for key in values if key in self.fields}
        self._known = known

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if answers.get("provider") == SERVER and not answers.get("base_url"):
            wrong["base_url"] = forms.NEEDED
        return wrong

    def save(self, home: str, answers: Json) -> Saved:
        return self._attempt(home, answers)

    def keep(self, home: str, answers: Json) -> Saved:
        return self._attempt(home, answers, test=False)

    def test(self, home: str, answers: Json) -> Saved:
        return self._attempt(home, answers, keep=False)

    def _attempt(self, home: str, answers: Json, *, test: bool = True, keep: bool = True) -> Saved:
        draft, default = self._drafted(answers), bool(answers.get("default"))
        outcome = saved_models.attempt(home, draft, default=default, test=test, keep=keep)
        wrong = {outcome.field: f": {outcome.message}"} if outcome.field in self.fields else {}
        return Saved(outcome.ok, outcome.message, wrong)

    def _drafted(self, answers: Json) -> Draft:
        """Return the model to save; an empty field of a saved model resets it."""
        known, other = self._known, answers["provider"] == OTHER
        usual = (USUAL, 0.0, USUAL) if known else ("", None, "")
        return Draft(
            "" if other else answers["provider"],
            answers["model"],
            Secret(answers.get("key", "").strip()),
            answers.get("base_url", "") or usual[0],
            known.name if known else answers.get("name", ""),
            answers.get("timeout", usual[1]),
            answers.get("fallback", "") or usual[2],
        )


def _fallbacks(saved: profiles.Settings, known: profiles.Profile | None) -> dict[str, str]:
    """Return the saved models that could answer for this one, and the one it names even if that is
    gone. Empty if there is no other."""
    own, now = (known.name, known.fallback) if known else ("", "")
    others = {name: name for name in saved.profiles if name != own}
    if now and now not in others:
        others[now] = f"{now} (not saved)"
    return {USUAL: "none"} | others if others else {}


def _schema(known: profiles.Profile | None, fallbacks: dict[str, str]) -> Json:
    titles = {each.name: each.title for each in PROVIDERS}
    titles[OTHER] = "Another one: write the model as PROVIDER/MODEL"
    kept = "unchanged" if known and known.key else ""
    fields: Json = {
        "provider": described("Provider", oneOf=choices(titles)),
        "model": described("Model", hints={"provider": _hints(_about_model)}),
        "key": described("Key", format=PASSWORD, hint=kept, hints={"provider": _hints(_about_key)}),
        "base_url": described(
            "Address",
            "Only another than the provider's own, such as http://host/v1.",
            hints={"provider": _hints(_about_address)},
        ),
        "name": described(
            "Name", "How lists call it; empty: chosen for you.", pattern=r"^[\w.+-]{1,64}$"
        ),
        "timeout": described(
            "Timeout",
            "Seconds for one answer; empty: the default.",
            type="number",
            minimum=1,
            maximum=3600,
        ),
        "fallback": described(
            "Fallback", "The saved model that answers if this one cannot.", oneOf=choices(fallbacks)
        ),
        "default": described("Default", "Use it for new sessions.", type="boolean"),
    }
    if known is not None:
        del fields["name"]
    if not fallbacks:
        del fields["fallback"]
    return {"properties": fields, "required": ["provider", "model"]}


def _values(known: profiles.Profile | None, *, default: bool) -> Json:
    if known is None:
        return {"provider": PROVIDERS[0].name, "fallback": USUAL, "default": True}
    provider = _provider(known)
    prefix = f"{provider.prefix}/" if provider else ""
    return {
        "provider": provider.name if provider else OTHER,
        "model": known.model.removeprefix(prefix),
        "base_url": known.base_url,
        "timeout": known.timeout,
        "fallback": known.fallback or USUAL,
        "default": default,
    }


def _provider(known: profiles.Profile) -> Provider | None:
    prefix = known.model.partition("/")[0]
    if prefix == "openai" and known.base_url:
        return find(SERVER)
    return find(prefix)


# --- what a provider's fields want -------------------------------------------------------------


def _hints(about: Callable[[Provider | None], str]) -> dict[str, str]:
    return {each.name: about(each) for each in PROVIDERS} | {OTHER: about(None)}


def _about_model(provider: Provider | None) -> str:
    if provider is None:
        return "PROVIDER/MODEL, such as openrouter/…, groq/… or bedrock/…"
    such = ", ".join(provider.models)
    return f"Such as {such}." if such else "As the server names it."


def _about_key(provider: Provider | None) -> str:
    if provider is None:
        return ""
    if provider.keyless:
        return "Not needed."
    variable = key_variable(f"{provider.prefix}/") if provider.name != SERVER else ""
    notes = [f"Get one at {provider.key_url}" if provider.key_url else ""]
    notes.append(f"Empty: {variable}, if set." if variable else "Empty: no key is sent.")
    return " ".join(note for note in notes if note)


def _about_address(provider: Provider | None) -> str:
    if provider is None:
        return "Only another than the provider's own, such as http://host/v1."
    if provider.asks_url and provider.api:
        return f"Usually {provider.api}"
    needed = "Required: the" if provider.asks_url else "Another"
    return f"{needed} server, such as http://host/v1."
