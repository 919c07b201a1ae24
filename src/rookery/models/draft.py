"""A model as entered by the user, checked before it is tested or saved."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from rookery.models.profiles import Profile
from rookery.models.providers import PREFIXES, PROVIDERS, Provider, find, provider_of
from rookery.models.secrets import NONE, Secret

USUAL = "none"
"""Given instead of an address: the provider's own; instead of a fallback: no such model."""


class BadDraft(Exception):
    """The model cannot be set up: the sentence says why, `field` which value is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Draft(NamedTuple):
    """The values entered so far; "" for those that are missing."""

    provider: str = ""
    model: str = ""
    key: Secret = NONE
    base_url: str = ""
    name: str = ""
    timeout: float | None = None
    fallback: str = ""


def provider_named(name: str) -> Provider:
    """Return the provider of that name. Raises BadDraft."""
    provider = find(name.strip().lower())
    if provider is None:
        known = ", ".join(each.name for each in PROVIDERS)
        others = "For any other, write the model as PROVIDER/MODEL"
        raise BadDraft("provider", f"unknown provider {name!r}. Known: {known}. {others}")
    return provider


def profile_of(draft: Draft, known: Profile | None) -> Profile:
    """Return the profile to save; values that are missing come from the known one. Raises
    BadDraft."""
    kept = known.base_url if known and draft.base_url != USUAL else ""
    base_url = checked_url(draft.base_url) or kept
    if draft.model:
        model = full_name(draft.model, draft.provider, base_url)
    elif known is not None and not draft.provider:
        model = known.model
    else:
        raise BadDraft("model", "a model is required, for example anthropic/claude-…")
    provider = provider_named(draft.provider) if draft.provider else None
    if provider is not None and provider.asks_url and not base_url:
        base_url = provider.api
        if not base_url:
            why = "the server's address is required, for example http://localhost:8000/v1"
            raise BadDraft("base_url", why)
    name = checked_name(draft.name) or (known.name if known else suggested_name(draft, model))
    fallback = _fallback(draft, known, name)
    if known is None:
        return Profile(name, model, draft.key, base_url, draft.timeout or None, {}, fallback)
    # A key is not reused for another provider or server.
    same = (provider_of(known.model), known.base_url) == (provider_of(model), base_url)
    key = draft.key or (known.key if same else NONE)
    timeout = known.timeout if draft.timeout is None else draft.timeout or None
    return Profile(name, model, key, base_url, timeout, known.extras, fallback)


def _fallback(draft: Draft, known: Profile | None, name: str) -> str:
    if not draft.fallback:
        return known.fallback if known else ""
    if draft.fallback == name:
        raise BadDraft("fallback", f"{name} cannot be its own fallback: name another saved model")
    return "" if draft.fallback == USUAL else draft.fallback


def full_name(model: str, provider: str, base_url: str) -> str:
    """Return the model's name as litellm expects it: provider/model. Raises BadDraft."""
    model = model.strip()
    if provider:
        prefix = provider_named(provider).prefix
        return model if model.startswith(f"{prefix}/") else f"{prefix}/{model}"
    first = model.partition("/")[0].lower()
    if "/" in model and (first in PREFIXES or not base_url):
        return model
    if base_url:
        return f"openai/{model}"
    if guess := provider_of(model):
        return f"{guess}/{model}"
    why = f"the provider of {model!r} is not known: name it, or write PROVIDER/MODEL"
    raise BadDraft("model", why)


def checked_url(url: str) -> str:
    """Normalise and check an address. Raises BadDraft."""
    url = url.strip().rstrip("/")
    if url in ("", USUAL):
        return ""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if "://" not in url:
        raise BadDraft("base_url", f"{url!r} lacks http:// or https://, as in https://host/v1")
    if not sound:
        raise BadDraft("base_url", f"{url!r} is not an address like https://host/v1")
    return url


def checked_name(name: str) -> str:
    """Trim and check a profile's name. Raises BadDraft."""
    name = name.strip()
    if name and not re.fullmatch(r"[\w.+-]{1,64}", name):
        raise BadDraft("name", "use at most 64 letters, digits, dots, dashes and underscores")
    return name


def suggested_name(draft: Draft, model: str) -> str:
    if draft.provider and draft.provider != "openai-compatible":
        return provider_named(draft.provider).name
    name = re.sub(r"[^\w.+-]+", "-", model.rpartition("/")[2]).strip("-")
    return name[:64] or "model"
