"""The questions of `rookery setup` on a terminal, and the test of the answers."""

import os
from collections.abc import Callable, Sequence

import click

from rookery.cli.output import Screen, clean_line
from rookery.models import saved_models, subscriptions
from rookery.models.draft import (
    BadDraft,
    Draft,
    checked_name,
    checked_url,
    provider_named,
    suggested_name,
)
from rookery.models.probe import Answer, is_direct, models_at
from rookery.models.profiles import Profile, Settings
from rookery.models.providers import (
    PREFIXES,
    PROVIDERS,
    Provider,
    api_of,
    is_loopback,
    key_variable,
)
from rookery.models.secrets import NONE, Secret

MAX_MODELS = 20
"""How many of the models that a server lists are offered."""
SUBSCRIPTION = "subscription"
"""Chosen instead of a provider: `rookery setup login`."""


def choose_provider(screen: Screen) -> str:
    """Ask for a provider; return its name, or SUBSCRIPTION. Raises click.Abort."""
    titles = [*(each.title for each in PROVIDERS), "ChatGPT subscription, instead of a key"]
    names = [*(each.name for each in PROVIDERS), SUBSCRIPTION]

    return choose(screen, "Which provider?", titles, names)


def ask(screen: Screen, draft: Draft, settings: Settings) -> Draft:
    """Ask for what is not given yet, and return the completed draft. Raises click.Abort on Ctrl-C
    and at the end of input."""
    provider = provider_named(draft.provider)
    if provider.asks_url and not draft.base_url:
        draft = draft._replace(base_url=read_url("API address", provider.api))
    if not draft.key:
        draft = draft._replace(key=_key(screen, provider, draft.base_url))
    draft = draft._replace(model=_model(screen, provider, draft))
    if not draft.name:
        usual = suggested_name(draft, draft.model)
        if usual in settings.profiles:
            screen.note(f"{usual} already exists; the same name replaces it.")
        name = _until(
            lambda: checked_name(click.prompt("Name for this model", default=usual, err=True))
        )
        draft = draft._replace(name=name)
    return draft


def read_url(question: str, default: str, example: str = "http://localhost:8000/v1") -> str:
    """Ask for a URL until it is valid. Raises click.Abort."""

    def read() -> str:
        if url := checked_url(_read(question, default=default)):
            return url
        raise BadDraft("base_url", f"the address is required, such as {example}")

    return _until(read)


def _read(question: str, default: str = "") -> str:
    """Read a line; unlike click, this does not silently ask again if it is empty."""
    line = click.prompt(question, default=default, show_default=bool(default), err=True)
    return str(line).strip()


def _key(screen: Screen, provider: Provider, base_url: str) -> Secret:
    if provider.keyless:
        return NONE
    variable = key_variable(f"{provider.prefix}/") if not base_url else ""
    own = os.environ.get(variable, "").strip() if variable else ""
    if own and click.confirm(f"Use the key in {variable}?", default=True, err=True):
        return Secret(own)
    if provider.key_url:
        screen.note(f"Get a key at {provider.key_url}")
    if is_loopback(base_url):
        return read_key(screen, "Key (not shown; empty: none)", needed=False)
    return read_key(screen, "Key (not shown)")


def read_key(screen: Screen, question: str, *, needed: bool = True) -> Secret:
    """Ask for a key, which is not shown. Raises click.Abort."""
    while True:
        key = click.prompt(question, default="", show_default=False, hide_input=True, err=True)
        if (key := str(key).strip()) or not needed:
            return Secret(key)
        screen.note("No key was entered. Paste it and press Enter; Ctrl-C leaves without saving.")


def _model(screen: Screen, provider: Provider, draft: Draft) -> str:
    offered: Sequence[str] = provider.models
    if provider.keyless or draft.base_url:
        api = api_of(f"{provider.prefix}/", draft.base_url)
        offered = models_at(api, draft.key.reveal())[:MAX_MODELS] or offered
    if offered:
        shown = [clean_line(name) for name in offered]
        # A name that is typed instead of a number is another's.
        choice = choose(screen, "Which model?", [*shown, "another"], [*offered, ""], str)
        if choice:
            return choice
    return _until(_model_by_name)


def _model_by_name() -> str:
    """Ask for a model's name. Raises BadDraft."""
    if name := _read("Model"):
        return name
    raise BadDraft("model", "the name is required, as the provider writes it")


def choose(
    screen: Screen,
    question: str,
    options: Sequence[str],
    names: Sequence[str],
    named: Callable[[str], str] | None = None,
) -> str:
    """Return the name of the option whose number is typed, or what `named` makes of a word (without
    it, the option that begins with the word); "" means that the user is asked again."""

    def beginning(word: str) -> str:
        known = [*zip(names, names, strict=True), *zip(options, names, strict=True)]
        return next((name for key, name in known if key.lower().startswith(word.lower())), "")

    for number, option in enumerate(options, 1):
        screen.note(f"  {number:>2}  {option}")
    while True:
        reply = _read(question, default="1")
        if reply.isdecimal() and 1 <= int(reply) <= len(options):
            return names[int(reply) - 1]
        if not reply.isdecimal() and (choice := (named or beginning)(reply)):
            return choice
        screen.note(f"Type a number from 1 to {len(options)}, or a name.")


def _until(read: Callable[[], str]) -> str:
    """Ask again until the answer is valid."""
    while True:
        try:
            return read()
        except BadDraft as error:
            click.echo(f"{error}.", err=True)


# ---------------------------------------------------------------- its test


def tested(screen: Screen, profile: Profile, *, asking: bool) -> tuple[Answer, Profile]:
    """Test the profile; a wrong key or model can be corrected in the terminal. Return both."""

    def announce(model: Profile) -> None:
        wait = "" if is_direct(model) else " (its library takes a few seconds to load)"
        screen.note(f"Testing {clean_line(model.model)}{wait} …")

    while True:
        answer = saved_models.probed(profile, announce)
        screen.note(clean_line(answer.message))
        better = _mended(answer, profile) if asking and not answer.ok else None
        if better is None:
            return answer, profile
        profile = better


def is_saved_anyway(screen: Screen, *, asking: bool) -> bool:
    if asking and click.confirm("Save it anyway?", default=False, err=True):
        return True
    screen.note("Nothing was saved. To save it untested: --no-test")
    return False


def _mended(answer: Answer, profile: Profile) -> Profile | None:
    """Ask for another key or model if the test found it wrong, and return the changed profile;
    None: it stays as it is. Raises click.Abort."""
    if subscriptions.is_one(profile.extras):
        return None
    if answer.kind == "auth":
        question = "Another key (not shown; Enter: keep this one)"
        key = click.prompt(question, default="", show_default=False, hide_input=True, err=True)
        return profile._replace(key=Secret(key)) if (key := str(key).strip()) else None
    if answer.kind == "model" and (name := _read("Another model (Enter: keep this one)")):
        prefix = profile.model.partition("/")[0]
        known = name.partition("/")[0].lower() in PREFIXES and "/" in name
        return profile._replace(model=name if known else f"{prefix}/{name}")
    return None
