"""The models that a session can choose: the saved ones, with the default overridden by the
environment if requested. Read each time, since the user may be setting one up just now."""

from collections.abc import Iterator, Mapping

from rookery.agent.conversation.choices import EFFORT_IDS
from rookery.core.json import Json
from rookery.core.vendors import logins
from rookery.core.vendors.environment import overriding
from rookery.models import credentials, profiles, subscriptions
from rookery.models.profiles import Missing, Profile, Settings
from rookery.models.providers import KEY_VARIABLES, PLACEHOLDER
from rookery.models.secrets import KNOWN, secrets_in

__all__ = ["Missing", "Models", "Profile"]


GONE = "it is not saved. Choose another fallback: rookery setup"


def status_of(profile: Profile | Missing) -> Json:
    """Return the reply to `auth/status`: logged in means that there is a model."""
    if isinstance(profile, Missing):
        return {"state": logins.OUT}
    return {"state": logins.IN, "accounts": [{"label": profile.model, "active": True}]}


class Models:
    def __init__(self, home: str, environment: Mapping[str, str], *, override: bool) -> None:
        self.home = home
        self._environment = environment
        self._override = override or overriding(environment)
        variables = (profiles.KEY, *KEY_VARIABLES.values())
        KNOWN.learn(environment.get(name, "").strip() for name in variables)
        KNOWN.learn(credentials.of_environment(environment))

    def settings(self) -> Settings:
        """Read the settings. Raises SettingsError."""
        settings = profiles.load(self.home)
        keys = {profile.key.reveal() for profile in settings.profiles.values()}
        others = [[each.base_url, each.extras] for each in settings.profiles.values()]
        KNOWN.learn((keys | secrets_in(others)) - {PLACEHOLDER})
        return settings

    def listed(self) -> list[tuple[str, str]]:
        """Return the name and model of each, the default first. Raises SettingsError."""
        settings = self.settings()
        first = self.chosen("")
        known = [(first.name, first.model)] if isinstance(first, Profile) else []
        names = [name for name, _ in known]
        others = [each for each in settings.profiles.values() if each.name not in names]
        return [*known, *((each.name, each.model) for each in others)]

    def chosen(self, profile: str) -> Profile | Missing:
        """Return a model by its name ("" or one that is gone: the default). The environment
        overrides only the default. Raises SettingsError."""
        settings = self.settings()
        default = settings.chosen.name if settings.chosen else ""
        if profile in settings.profiles and profile != default:
            return self._effective(settings, profile)
        return self._effective(settings, "", override=self._override)

    def _effective(
        self, settings: Settings, profile: str, *, override: bool = False
    ) -> Profile | Missing:
        chosen = profiles.effective(settings, self._environment, override, profile)
        paid = isinstance(chosen, Profile) and subscriptions.is_one(chosen.extras)
        if paid and not subscriptions.is_logged_in(self.home):
            return Missing(f"You are not logged in. Run: {subscriptions.LOG_IN}")
        return chosen

    def fallbacks(self, profile: str) -> Iterator[tuple[str, Profile | Missing]]:
        """Yield the models to ask after this one ("": the default), in order, each once. Raises
        SettingsError."""
        settings = self.settings()
        now = settings.profiles.get(profile) or settings.chosen
        seen = {now.name} if now else set[str]()
        while now and now.fallback and now.fallback not in seen:
            name = now.fallback
            seen.add(name)
            now = settings.profiles.get(name)
            yield name, self._effective(settings, name) if now else Missing(GONE)

    @staticmethod
    def efforts_of(model: str) -> tuple[str, ...]:
        """Return the efforts that a model takes by litellm's list; all if it is not listed."""
        import litellm

        name = model.removeprefix("litellm_proxy/").removeprefix("openhands/")
        entry = litellm.model_cost.get(name) or litellm.model_cost.get(name.partition("/")[2])
        if not isinstance(entry, dict):
            return EFFORT_IDS
        if not entry.get("supports_reasoning"):
            return EFFORT_IDS[:1]
        can_stop = entry.get("supports_none_reasoning_effort") is not False
        takes = {"none": can_stop and not entry.get("thinking_always_on")}
        takes["xhigh"] = bool(entry.get("supports_xhigh_reasoning_effort"))
        return tuple(effort for effort in EFFORT_IDS if takes.get(effort, True))
