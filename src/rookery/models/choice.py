"""Choosing the agent of a new session: if none is named, the choice depends on whether a model is
saved."""

import os
from collections.abc import Mapping

from rookery import models
from rookery.agents import registry
from rookery.client.create import default_sandbox
from rookery.core.settings.sandbox import CONTAINER
from rookery.core.vendors.environment import overriding
from rookery.home.config import Config


def chosen_agent(
    home: str, settings: Config, cwd: str, name: str = "", line: str = "", sandbox: str = ""
) -> registry.Agent:
    """Return the agent that a command line starts, else the one of that name, else the default. It
    has to be installed, unless its session runs in a container. Raises ValueError (the line is
    wrong), UnknownAgent, NotInstalled."""
    name = name or default_agent(home, settings.default_agent, os.environ)
    agent = registry.from_command(line) if line else registry.resolve(name, settings.agents)
    argv = agent.argv if line else []
    if (sandbox or default_sandbox(settings, agent.name, argv)) != CONTAINER:
        registry.check_installed(agent, os.environ, cwd, settings.node_path)
    return agent


def default_agent(home: str, chosen: str, environment: Mapping[str, str]) -> str:
    """Return the name of the agent in config.toml, else Rookery's own if a model is set up or the
    environment names one, else the demo."""
    if chosen:
        return chosen
    named = overriding(environment) and environment.get("LLM_MODEL")
    return registry.OWN if named or has_model(home) else registry.DEMO


def has_model(home: str) -> bool:
    """Tell whether a model is saved. True also if the file is broken: the agent then reports what
    is wrong."""
    settings, problem = models.profiles.look(home)
    return bool(settings.profiles or problem)
