"""The settings as commands use them: those in force, with a warning on stderr about the rest."""

from rookery.cli import errors
from rookery.client.config import in_force
from rookery.core.settings.held import WAITS
from rookery.home import paths
from rookery.home.config import Config, ConfigError
from rookery.home.config import load as load_file

_told: set[str] = set()
"""One command may need the settings more than once."""


def load() -> Config:
    """Raises ConfigError."""
    return settings().config


def settings() -> in_force.InForce:
    """Raises ConfigError."""
    found = in_force.settings(paths.home())
    tell(found)
    return found


def tell(found: in_force.InForce) -> None:
    """What in the file is not used, and what waits for the user; each once."""
    words = [*found.config.warnings, *([WAITS] if found.held else [])]
    for word in words:
        if word not in _told:
            _told.add(word)
            errors.say(f"rookery: {word}")


def shows_durations() -> bool:
    """Whatever is wrong with the file, the transcript is shown."""
    try:
        return load_file(paths.home()).show_tool_durations
    except ConfigError:
        return True
