"""A new session from an agent's name and a directory."""

from rookery.agents import registry
from rookery.client.config import in_force
from rookery.client.create import create_session
from rookery.home import config
from rookery.log.errors import LogError
from rookery.models.choice import chosen_agent


class Unmade(Exception):
    """The session was not created; says why, and what helps."""


def made(home: str, agent: str, cwd: str, confirm: str = "") -> str:
    """The new session's id. Raises Unmade."""
    try:
        settings = in_force.load(home)
        found = chosen_agent(home, settings, cwd, agent)
        return create_session(home, agent=found.name, argv=[], cwd=cwd, confirm=confirm)
    except (config.ConfigError, registry.UnknownAgent, registry.NotInstalled) as error:
        raise Unmade(str(error)) from error
    except (LogError, OSError) as error:
        raise Unmade(f"Cannot create the session: {error}") from error
