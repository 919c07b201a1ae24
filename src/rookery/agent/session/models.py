"""Which models a session can have: the saved profiles, with the environment over the default one
where that is wanted. Read anew each time, since a person may be setting one up just now."""

from collections.abc import Mapping

from rookery.core.vendors.environment import overriding
from rookery.models import credentials, profiles
from rookery.models.profiles import Missing, Model, Settings
from rookery.models.providers import KEY_VARIABLES, PLACEHOLDER
from rookery.models.secrets import KNOWN, secrets_in

__all__ = ["Missing", "Model", "Models"]


class Models:
    def __init__(self, home: str, environment: Mapping[str, str], *, override: bool) -> None:
        self.home = home
        self._environment = environment
        self._override = override or overriding(environment)
        variables = (profiles.KEY, *KEY_VARIABLES.values())
        KNOWN.learn(environment.get(name, "").strip() for name in variables)
        KNOWN.learn(credentials.of_environment(environment))

    def settings(self) -> Settings:
        """Raises SettingsError."""
        settings = profiles.load(self.home)
        keys = {profile.key.reveal() for profile in settings.profiles.values()}
        others = [[each.base_url, each.extras] for each in settings.profiles.values()]
        KNOWN.learn((keys | secrets_in(others)) - {PLACEHOLDER})
        return settings

    def listed(self) -> list[tuple[str, str]]:
        """Each profile and its model, the default one first. Raises SettingsError."""
        settings = self.settings()
        first = self.chosen("")
        known = [(first.profile, first.model)] if isinstance(first, Model) else []
        names = [name for name, _ in known]
        others = [each for each in settings.profiles.values() if each.name not in names]
        return [*known, *((each.name, each.model) for each in others)]

    def chosen(self, profile: str) -> Model | Missing:
        """The model of a profile ("" and a name that is gone: the default). Raises SettingsError.

        The environment goes over the default alone: who chooses another by its name means that.
        """
        settings = self.settings()
        default = settings.chosen.name if settings.chosen else ""
        if profile in settings.profiles and profile != default:
            return profiles.effective(settings, self._environment, False, profile)
        return profiles.effective(settings, self._environment, self._override)
