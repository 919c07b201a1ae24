"""The settings as commands use them: those in force, with warnings on stderr about the rest."""

from rookery import agents
from rookery.agents import registry
from rookery.cli import errors
from rookery.client import config as client_config
from rookery.client.config import in_force
from rookery.client.guard import of_an_agent
from rookery.core.settings.held import WAITS
from rookery.home import paths
from rookery.home.config import Config, ConfigError
from rookery.home.config import load as load_file

CARRIED = (
    "rookery: {name} now runs in the sandbox container, with all of the agent inside, and needs "
    "an image that has it: {line}"
)
_warned: set[str] = set()
"""One command may need the settings more than once."""


def load() -> Config:
    """Return the configuration in force. Raises ConfigError."""
    return settings().config


def settings() -> in_force.InForce:
    """Return the settings in force, after warning about the rest. Raises ConfigError."""
    current = in_force.settings(paths.home())
    if _carried_over(current.config):
        current = in_force.settings(paths.home())
    tell(current)
    return current


def _carried_over(config: Config) -> bool:
    """Carry over agents of an earlier version, and return whether any was changed: it ran them on a
    server in a container, and had to leave them unconfined. They run in the sandbox now, with or
    without this."""
    images = {name: registry.image_of(config.agents.get(name, ())) for name in config.unconfined}
    old = {name: each for name, each in images.items() if each is not None}
    if not old or of_an_agent(paths.home()):
        return False

    for name in sorted(old):
        try:
            table = client_config.own_agents.table_of(paths.home(), name)
            table.pop("confined", None)
            client_config.own_agents.put(paths.home(), name, table)
        except (*client_config.edit.REFUSED, OSError):
            return False
        line = agents.image.make_line(config.agents[name], old[name] or agents.image.NAME)
        errors.say(CARRIED.format(name=name, line=line))
    return True


def tell(current: in_force.InForce) -> None:
    """Warn once each of what in the file is not used, and of what waits for the user."""
    warnings = [*current.config.warnings, *([WAITS] if current.held else [])]
    for word in warnings:
        if word not in _warned:
            _warned.add(word)
            errors.say(f"rookery: {word}")


def shows_durations() -> bool:
    """Return whether durations are shown; a faulty file does not hide the transcript."""
    try:
        return load_file(paths.home()).show_tool_durations
    except ConfigError:
        return True
