"""Which agent is used if none is named: that depends on whether a model is saved."""

from collections.abc import Mapping

from rookery.agents import registry
from rookery.core.vendors.environment import overriding


def default_agent(home: str, chosen: str, environment: Mapping[str, str]) -> str:
    """The one in config.toml, else Rookery's own if a model is set up or the environment names one,
    else the demo."""
    if chosen:
        return chosen
    named = overriding(environment) and environment.get("LLM_MODEL")
    return registry.OWN if named or has_model(home) else registry.DEMO


def has_model(home: str) -> bool:
    """Also if the file is broken: the agent then says what is wrong."""
    from rookery.models import profiles

    settings, problem = profiles.look(home)
    return bool(settings.profiles or problem)
