"""Operations on saved models, shared by the command line and the terminal interface with the same
messages: test, save, choose and remove one, and change the condenser and the critic."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rookery import models
from rookery.client.guard import FromAgent
from rookery.home import paths
from rookery.models import own_agent, profiles, subscriptions
from rookery.models.documents import SettingsError
from rookery.models.draft import USUAL, BadDraft, Draft, profile_of
from rookery.models.profiles import Profile, Settings
from rookery.models.providers import key_variable, needs_key

if TYPE_CHECKING:
    from rookery.models.probe import Answer


NOT_LOGGED_IN = f"You are not logged in. Run: {subscriptions.LOG_IN}"


class Outcome(NamedTuple):
    ok: bool
    message: str
    """What to show."""
    field: str = ""
    """The field that is wrong, if one is."""


class NoAnswer(Exception):
    """The test failed; the sentence says why."""


def outcome(work: Callable[[], str]) -> Outcome:
    """Run `work` and return its result, or its error as a message."""
    try:
        return Outcome(True, work())
    except BadDraft as error:
        return Outcome(False, f"{error}.", error.field)
    except (SettingsError, FromAgent, NoAnswer) as error:
        return Outcome(False, str(error))
    except OSError as error:
        return Outcome(False, f"{profiles.FILE} could not be written: {error.strerror}.")


# ---------------------------------------------------------------- one model


def attempt(
    home: str, draft: Draft, *, default: bool = False, test: bool = True, keep: bool = True
) -> Outcome:
    """Test and save a model without asking anything. `keep`: save it."""

    def done() -> str:
        settings = profiles.load(home)
        profile = profile_of(draft, settings.profiles.get(draft.name))
        check_fallback(settings, draft)
        if lacks_key(profile):
            raise BadDraft("key", f"{profile.model} needs a key")
        if test:
            answer = probed(profile)
            if not answer.ok:
                raise NoAnswer(answer.message)
            if not keep:
                return answer.message
        message = saved(home, profile, default=default)
        if misfit := "" if own_agent.is_missing() else own_agent.misfit():
            raise NoAnswer(f"{message} But Rookery's own agent is not usable yet: {misfit}")
        return message

    return outcome(done)


def lacks_key(profile: Profile) -> bool:
    """Tell whether it needs a key that is neither saved nor in the provider's usual variable."""
    if profile.key or not needs_key(profile.model, profile.base_url):
        return False
    if subscriptions.is_one(profile.extras):
        return False
    variable = key_variable(profile.model)
    return not (variable and os.environ.get(variable, "").strip())


def probed(profile: Profile, before: Callable[[Profile], object] = lambda _: None) -> "Answer":
    """Test a model; `before` is called with it first."""
    if subscriptions.is_one(profile.extras):
        known = subscriptions.is_logged_in(paths.home())
        message = "A subscription is tested by its first prompt." if known else NOT_LOGGED_IN
        return models.probe.Answer("ok" if known else "auth", message)
    alone = Settings({profile.name: profile}, profile.name)
    model = profiles.effective(alone, os.environ, override=False)
    if isinstance(model, profiles.Missing):
        return models.probe.Answer("auth", model.sentence)
    before(model)
    return models.probe.probe(model)


def saved(home: str, profile: Profile, *, default: bool) -> str:
    profiles.change(home, lambda now: now.with_profile(profile, default=default))
    return f"Saved {profile.name} ({profile.model})."


def check_fallback(settings: Settings, draft: Draft) -> None:
    """Raise BadDraft if the fallback is not a saved model."""
    if draft.fallback not in ("", USUAL):
        _known(settings, draft.fallback, "fallback")


def fall_back(home: str, draft: Draft) -> str:
    """Change only a saved model's fallback, which needs no test. Raises BadDraft."""

    def changed(now: Settings) -> Settings:
        check_fallback(now, draft)
        profile = profile_of(draft, _known(now, draft.name))
        return now._replace(profiles={**now.profiles, profile.name: profile})

    fallback = profiles.change(home, changed).profiles[draft.name].fallback
    if not fallback:
        return f"{draft.name} has no fallback."
    return f"When {draft.name} cannot answer, {fallback} does."


def use(home: str, name: str) -> str:
    settings = profiles.change(home, lambda now: now._replace(default=_known(now, name).name))
    return f"New sessions use {name} ({settings.profiles[name].model})."


def forget(home: str, name: str) -> str:
    profiles.change(home, lambda now: now.without(_known(now, name, "remove").name))
    return f"Removed {name}."


def _known(settings: Settings, name: str, field: str = "name") -> Profile:
    if name not in settings.profiles:
        known = ", ".join(settings.profiles) or "there are none"
        raise BadDraft(field, f"there is no saved model {name!r}; saved: {known}")
    return settings.profiles[name]


# ---------------------------------------------------------------- all of them


def condense(home: str, wanted: Mapping[str, Any]) -> str:
    """Change the condenser; return a sentence on its state. Raises BadDraft, SettingsError."""

    def changed(now: Settings) -> Settings:
        if wanted.get("profile"):
            _known(now, wanted["profile"], "profile")
        made = now.condenser._replace(**wanted)  # checked as if it were in the file
        return now._replace(condenser=profiles.condenser_of(made.to_json(), profiles.FILE))

    settings = profiles.change(home, changed) if wanted else profiles.load(home)
    condenser = settings.condenser
    if not condenser.enabled:
        return "Long conversations are never summarised."
    by = f" by {condenser.profile}" if condenser.profile else ""
    return (
        f"Conversations are summarised{by} {condenser.summary}, except for the first "
        f"{condenser.keep_first} events and the latest."
    )


def judge(home: str, wanted: Mapping[str, Any]) -> str:
    """Change our own agent's critic; return a sentence on its state. Raises BadDraft,
    SettingsError."""

    def changed(now: Settings) -> Settings:
        if wanted.get("judge"):
            _known(now, wanted["judge"], "judge")
        return now._replace(critic=now.critic._replace(**wanted))

    settings = profiles.change(home, changed) if wanted else profiles.load(home)
    critic = settings.critic
    if not critic.enabled:
        return "The critic of Rookery's own agent is off."
    if critic.judge and critic.judge not in settings.profiles:
        gone = f"the model {critic.judge} no longer exists"
        return f"Turns are not judged: {gone}. Choose another with --judge."
    if critic.judge:
        return f"Turns are judged by the model {critic.judge}."
    return "OpenHands' critic judges turns of models from OpenHands' proxy; others are not judged."
