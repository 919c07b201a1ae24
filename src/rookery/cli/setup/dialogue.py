"""The questions of `rookery setup` on a terminal."""

import os
from collections.abc import Callable, Sequence

import click

from rookery.cli.output import Screen, clean_line
from rookery.models.draft import (
    BadDraft,
    Draft,
    checked_name,
    checked_url,
    provider_named,
    suggested_name,
)
from rookery.models.probe import models_at
from rookery.models.profiles import Settings
from rookery.models.providers import PROVIDERS, Provider, api_of, is_loopback, key_variable
from rookery.models.secrets import NONE, Secret

MOST = 20
"""Models offered of those that a server lists."""


def ask(screen: Screen, draft: Draft, settings: Settings) -> Draft:
    """What is not given yet. Raises click.Abort on Ctrl-C and at the end of input."""
    if not draft.provider:
        titles = [each.title for each in PROVIDERS]
        number = _choose(screen, "Which provider?", titles)
        draft = draft._replace(provider=PROVIDERS[number].name)
    provider = provider_named(draft.provider)
    if provider.asks_url and not draft.base_url:
        usual = provider.api or None
        address = _until(lambda: checked_url(click.prompt("API address", default=usual, err=True)))
        draft = draft._replace(base_url=address)
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


def _key(screen: Screen, provider: Provider, base_url: str) -> Secret:
    if provider.keyless:
        return NONE
    variable = key_variable(f"{provider.prefix}/") if not base_url else ""
    own = os.environ.get(variable, "").strip() if variable else ""
    if own and click.confirm(f"Use the key in {variable}?", default=True, err=True):
        return Secret(own)
    if provider.key_url:
        screen.note(f"Get a key at {provider.key_url}")
    none = is_loopback(base_url)
    words = "Key (not shown; empty: none)" if none else "Key (not shown)"
    given = click.prompt(
        words, hide_input=True, err=True, default="" if none else None, show_default=False
    )
    return Secret(str(given).strip())


def _model(screen: Screen, provider: Provider, draft: Draft) -> str:
    offered: Sequence[str] = provider.models
    if provider.keyless or draft.base_url:
        api = api_of(f"{provider.prefix}/", draft.base_url)
        offered = models_at(api, draft.key.reveal())[:MOST] or offered
    if offered:
        shown = [clean_line(name) for name in offered]
        number = _choose(screen, "Which model?", [*shown, "another"])
        if number < len(offered):
            return offered[number]
    return str(click.prompt("Model", err=True)).strip()


def _choose(screen: Screen, question: str, options: Sequence[str]) -> int:
    """The number of an option, counted from 0."""
    for number, option in enumerate(options, 1):
        screen.note(f"  {number:>2}  {option}")
    chosen = click.prompt(question, type=click.IntRange(1, len(options)), default=1, err=True)
    return int(chosen) - 1


def _until(read: Callable[[], str]) -> str:
    """Ask again until the answer is valid."""
    while True:
        try:
            return read()
        except BadDraft as error:
            click.echo(f"{error}.", err=True)
