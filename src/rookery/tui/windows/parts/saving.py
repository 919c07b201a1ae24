"""Changes of the home's files, made for a window."""

from collections.abc import Callable

from rookery.client import guard
from rookery.client.config import in_force
from rookery.client.config.rules import NotEdited
from rookery.home import config, mcp

REFUSED = (config.ConfigError, NotEdited, mcp.McpError, guard.FromAgent, in_force.Waiting)


def attempt(work: Callable[[], object], file: str = "config.toml") -> str:
    """Why the work failed; empty: it succeeded."""
    try:
        work()
    except REFUSED as error:
        return str(error)
    except OSError as error:
        return f"Cannot write {file}: {error.strerror}."
    return ""
