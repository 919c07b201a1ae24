"""`agent_settings.json`: the saved models, each under a name.

    {
      "default": "work",
      "profiles": {
        "work": {"model": "anthropic/…", "api_key": "…", "base_url": null, "timeout": 300}
      },
      "condenser": {"enabled": true, "share": 75, "max_size": 0, "keep_first": 4},
      "critic": {"judge": "work"}
    }

Other fields of a profile are passed to the model unchanged; unknown fields are kept everywhere.
Values that the environment overrides are never saved."""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from rookery.client import guard
from rookery.core.vendors.environment import LACKING
from rookery.models import documents, migration, prices, providers
from rookery.models.documents import Json
from rookery.models.providers import key_variable, needs_key, provider_of
from rookery.models.secrets import NONE, Secret, secrets_in

FILE = "agent_settings.json"
VERSION = 1
BEFORE = ".before-migration"
"""Suffix of the file as it was before its shape changed."""

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Profile(NamedTuple):
    name: str
    model: str
    """As litellm names it: provider/model."""
    key: Secret = NONE
    base_url: str = ""
    timeout: float | None = None
    """Seconds for one answer; None: the SDK's own."""
    extras: Mapping[str, Any] = _EMPTY
    """Other fields of the SDK's model, as in the file."""
    fallback: str = ""
    """The saved model that answers when this one cannot."""

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, {self.model!r}, {self.key!r}, {self.base_url!r})"

    def to_json(self) -> Json:
        """Return the profile as it is saved: with its key."""
        return {
            "model": self.model,
            "api_key": self.key.reveal() or None,
            "base_url": self.base_url or None,
            "timeout": self.timeout,
            **({"fallback": self.fallback} if self.fallback else {}),
            **self.extras,
        }

    def secrets(self) -> set[str]:
        return {self.key.reveal(), *secrets_in(self.extras)} - {""}


MOST_SHARE, LEAST_SIZE = 95, 10
OLD_SIZE = 80
"""The usual `max_size` of before there was a share."""


class Condenser(NamedTuple):
    """When and how a long conversation is summarised."""

    enabled: bool = True
    share: int = 75
    """Percent of the model's window; a conversation that takes more is shortened."""
    max_size: int = 0
    """Events; a longer conversation is shortened, too. 0: however many."""
    keep_first: int = 4
    profile: str = ""
    """The model that writes the summary; "": the conversation's own."""
    extras: Mapping[str, Any] = _EMPTY

    def __repr__(self) -> str:
        numbers = f"{self.share}, {self.max_size}, {self.keep_first}"
        return f"Condenser({self.enabled}, {numbers}, {self.profile!r})"

    @property
    def summary(self) -> str:
        """Say when it summarises."""
        events = f" or after {self.max_size} events" if self.max_size else ""
        return f"when {self.share} % of the context is used{events}"

    def to_json(self) -> Json:
        known = {key: getattr(self, key) for key in ("enabled", "share", "max_size", "keep_first")}
        return {**known, **({"profile": self.profile} if self.profile else {}), **self.extras}


class Critic(NamedTuple):
    """The model that judges the finished turns of Rookery's own agent."""

    enabled: bool = True
    judge: str = ""
    """The saved model that judges; "": the API's critic, if the model has one."""
    extras: Mapping[str, Any] = _EMPTY

    def __repr__(self) -> str:
        return f"Critic({self.enabled}, {self.judge!r})"

    def to_json(self) -> Json:
        """Return only what differs from the defaults."""
        enabled = {} if self.enabled else {"enabled": False}
        return {**enabled, **({"judge": self.judge} if self.judge else {}), **self.extras}


class Settings(NamedTuple):
    profiles: Mapping[str, Profile] = _EMPTY
    default: str = ""
    condenser: Condenser = Condenser()
    extras: Mapping[str, Any] = _EMPTY
    critic: Critic = Critic()

    def __repr__(self) -> str:
        return f"Settings({list(self.profiles.values())!r}, {self.default!r})"

    @property
    def chosen(self) -> Profile | None:
        """The default profile, else the first."""
        return self.profiles.get(self.default) or next(iter(self.profiles.values()), None)

    def with_profile(self, profile: Profile, *, default: bool = False) -> Self:
        """Return the settings with a profile added or replaced; the first one becomes the
        default."""
        profiles = {**self.profiles, profile.name: profile}
        kept = self.default in self.profiles and not default
        return self._replace(profiles=profiles, default=self.default if kept else profile.name)

    def without(self, name: str) -> Self:
        profiles = {key: each for key, each in self.profiles.items() if key != name}
        default = self.default if self.default in profiles else next(iter(profiles), "")
        profiles = {
            key: each._replace(fallback="") if each.fallback == name else each
            for key, each in profiles.items()
        }
        critic = self.critic._replace(judge="") if self.critic.judge == name else self.critic
        return self._replace(profiles=profiles, default=default, critic=critic)

    def secrets(self) -> set[str]:
        """Return everything that must not be printed, logged or sent."""
        parts = (self.extras, self.condenser.extras, self.critic.extras)
        mine = {text for part in parts for text in secrets_in(part)}
        return mine.union(*(profile.secrets() for profile in self.profiles.values())) - {""}

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "default": self.default or None,
            "profiles": {name: each.to_json() for name, each in self.profiles.items()},
            "condenser": self.condenser.to_json(),
            **({"critic": critic} if (critic := self.critic.to_json()) else {}),
            **self.extras,
        }


# ---------------------------------------------------------------- the file


def path(home: str) -> str:
    return os.path.join(home, FILE)


def load(home: str) -> Settings:
    """Return the saved settings, or the defaults. An old format is migrated and saved once; the old
    file stays beside it. Raises SettingsError."""
    place = path(home)
    saved = documents.read(place) or {}
    if not migration.is_old(saved):
        return _parsed(saved, place)
    with documents.locked(place):
        return _migrated(place)


def look(home: str) -> tuple[Settings, str]:
    """Return the saved settings, and why they could not be read ("" if they could). For display
    only: nothing is migrated."""
    try:
        return _parsed(documents.read(path(home)) or {}, path(home)), ""
    except documents.SettingsError as error:
        return Settings(), str(error)


def _migrated(place: str) -> Settings:
    """The saved settings, migrated. The caller holds the lock."""
    saved = documents.read(place) or {}
    settings = _parsed(saved, place)
    if migration.is_old(saved):
        if not os.path.exists(place + BEFORE):
            documents.write(place + BEFORE, saved)
        documents.write(place, settings.to_json())
    return settings


def save(home: str, settings: Settings) -> None:
    """Write the settings atomically, readable only by this user."""
    documents.write(path(home), settings.to_json())


def change(home: str, edit: Callable[[Settings], Settings]) -> Settings:
    """Read, edit and save the settings under the lock. Raises SettingsError, and FromAgent in an
    agent's process; then nothing is written."""
    guard.require_person(home, "set up models")
    with documents.locked(path(home)):
        settings = edit(_migrated(path(home)))
        save(home, settings)
    return settings


# ---------------------------------------------------------------- its values


def _parsed(saved: Json, place: str) -> Settings:
    saved = migration.migrated(saved) if migration.is_old(saved) else saved
    fields = documents.Fields(saved, place, "")
    version = fields.rest.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        fields.refuse("version", f"is {version}: a newer Rookery wrote this file; update yours")
    default = fields.text("default")
    profiles = fields.rest.pop("profiles", {})
    profiles = {} if profiles is None else profiles
    if not isinstance(profiles, dict):
        fields.refuse("profiles", "must be an object of models by name")
    condenser, critic = fields.rest.pop("condenser", None), fields.rest.pop("critic", None)
    return Settings(
        {name: profile_of(name, each, place) for name, each in profiles.items()},
        default,
        Condenser() if condenser is None else condenser_of(condenser, place),
        fields.rest,
        Critic() if critic is None else critic_of(critic, place),
    )


def profile_of(name: str, value: object, place: str) -> Profile:
    """Parse a profile. Raises SettingsError."""
    key = f"profiles.{name}"
    fields = documents.Fields(value, place, key, 'must be an object with a "model"')
    model = fields.text("model")
    if not model:
        raise documents.refusal(place, key, 'has no "model", for example "anthropic/claude-…"')
    timeout = fields.rest.pop("timeout", None)
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0
    ):
        fields.refuse("timeout", "must be a number of seconds")
    prices.check(fields.rest.get(prices.KEY), place, f"{key}.{prices.KEY}")
    secret, base_url = Secret(fields.text("api_key")), fields.text("base_url")
    fallback = fields.text("fallback", "must be the name of a saved model")
    return Profile(name, model, secret, base_url, timeout, fields.rest, fallback)


def condenser_of(value: object, place: str) -> Condenser:
    """Parse the condenser's settings. Raises SettingsError."""
    fields = documents.Fields(value, place, "condenser")
    usual = Condenser()
    enabled = fields.switch("enabled", usual.enabled)
    old = "share" not in fields.rest
    share = fields.whole("share", usual.share, 10)
    if share > MOST_SHARE:
        fields.refuse("share", f"must be at most {MOST_SHARE}")
    max_size = fields.whole("max_size", usual.max_size, 0)
    if old and max_size == OLD_SIZE:
        max_size = usual.max_size  # it was written whether somebody wanted it or not
    if 0 < max_size < LEAST_SIZE:
        fields.refuse("max_size", f"must be 0, or at least {LEAST_SIZE}")
    keep_first = fields.whole("keep_first", usual.keep_first, 0)
    if max_size and keep_first >= max_size // 2:
        fields.refuse("keep_first", "must be less than half of max_size")
    return Condenser(enabled, share, max_size, keep_first, fields.text("profile"), fields.rest)


def critic_of(value: object, place: str) -> Critic:
    """Parse the critic's settings. Raises SettingsError."""
    fields = documents.Fields(value, place, "critic")
    enabled = fields.switch("enabled", True)
    return Critic(enabled, fields.text("judge", "must be the name of a saved model"), fields.rest)


# ---------------------------------------------------------------- which of them is used

KEY, BASE_URL, MODEL = "LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL"
FLAG = "--override-with-envs"
ENVIRONMENT = "environment"
"""The name of a model that no profile has."""


class Missing(NamedTuple):
    """There is no usable model; the sentence says what to do."""

    sentence: str


def effective(
    settings: Settings, environ: Mapping[str, str], override: bool, profile: str = ""
) -> Profile | Missing:
    """Return a saved model ("": the default) as a conversation uses it, with its key. `override`:
    the environment takes precedence."""
    given = {name: environ.get(name, "").strip() for name in (MODEL, KEY, BASE_URL)}
    given = {name: value for name, value in given.items() if value}
    if override and (lacking := environ.get(LACKING, "").split()):
        return Missing(_lacking(lacking))
    saved = settings.profiles.get(profile) if profile else settings.chosen
    if profile and saved is None:
        known = ", ".join(settings.profiles) or "none"
        return Missing(f"There is no saved model {profile!r}. Saved: {known}.")
    if saved is None and not override:
        return Missing(_nothing_saved(given))
    if saved is None and (absent := _absent(given)):
        return Missing(
            f"No model is saved, and {FLAG} needs {' and '.join(absent)}. "
            f"Set {'them' if len(absent) > 1 else 'it'}, or run: rookery setup"
        )
    made = saved or Profile(ENVIRONMENT, "")
    if override:
        made = made._replace(
            model=given.get(MODEL) or made.model,
            key=Secret(given[KEY]) if KEY in given else made.key,
            base_url=given.get(BASE_URL) or made.base_url,
        )
    if made.extras.get("auth_type") == "subscription":
        return made  # it has tokens instead
    if not made.key and needs_key(made.model, made.base_url):
        variable = key_variable(made.model)
        own = environ.get(variable, "").strip() if variable else ""
        if not own:
            return Missing(_no_key(made, variable))
        return made._replace(key=Secret(own))
    if not made.key and provider_of(made.model) not in providers.BY_ENVIRONMENT:
        return made._replace(key=Secret(providers.PLACEHOLDER))
    return made


def _absent(given: Mapping[str, str]) -> list[str]:
    keyless = MODEL in given and not needs_key(given[MODEL], given.get(BASE_URL, ""))
    return [name for name in (KEY, MODEL) if name not in given and not (name == KEY and keyless)]


def _nothing_saved(given: Mapping[str, str]) -> str:
    verb = "are" if len(given) > 1 else "is"
    unused = f" ({', '.join(given)} {verb} only used with {FLAG})" if given else ""
    return f"No model is set up. Run: rookery setup{unused}"


def _lacking(names: list[str]) -> str:
    """A sentence on missing variables. The saved model is not used instead: it is not the one that
    was asked for."""
    these, them = ("they are", "them") if len(names) > 1 else ("it is", "it")
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f"The session was started with {FLAG} and {listed}: {these} never saved. "
        f"Set {them}, run: rookery stop SESSION, and send the prompt again."
    )


def _no_key(made: Profile, variable: str) -> str:
    if made.name == ENVIRONMENT:
        return f"{made.model} needs a key: set {KEY}, or run: rookery setup"
    also = f", or set {variable}" if variable else ""
    return (
        f"The model {made.name!r} ({made.model}) has no key. "
        f"Run: rookery setup --name {made.name}{also}"
    )
