"""Which agent a new session gets when none was named, and whether that agent has a model."""

import os

import click

from rookery.agents import registry
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.core.vendors.environment import overriding
from rookery.home import config, paths
from rookery.models.choice import default_agent


def chosen_agent(screen: Screen, settings: config.Config, named: str | None) -> registry.Agent:
    """By its name, else the default. Raises UnknownAgent, SettingsError, ClickException."""
    home = paths.home()
    name = named or default_agent(home, settings.default_agent, os.environ)
    agent = registry.resolve(name, settings.agents)
    silent = bool(named or settings.default_agent)
    if name == registry.DEMO and not silent:
        screen.note("Using the demo agent: no model is set up (rookery setup).")
    if name == registry.OWN and name not in settings.agents and not registry.lacks_module(agent):
        model = _model(home)
        if not silent:
            screen.note(f"Using Rookery's own agent with {model}.")
    return agent


def _model(home: str) -> str:
    """In words; a session that could not begin is not made."""
    from rookery.models import profiles

    model = profiles.effective(profiles.load(home), os.environ, overriding(os.environ))
    if isinstance(model, profiles.Missing):
        raise click.ClickException(model.sentence)
    name = clean_line(model.model)
    return name if model.profile == profiles.ENVIRONMENT else f"{name} ({model.profile})"
