"""Whether an agent that is started without a worker gets Landlock's domain: a glance at
config.toml, since somebody waits for it."""

import os
from collections.abc import Mapping

from rookery.processes import landlock
from rookery.processes.fence import DEMANDED

OWN_AGENT = "rookery"


def is_wanted(home: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Of our own agent. A worker that confines it says so in its environment: there it can only be
    wanted more, never less."""
    if not landlock.available():
        return False
    if environment.get(DEMANDED):
        return True
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return True
    if b"confined" not in data:
        return True  # the parser costs more than all else here
    from rookery.client import in_force
    from rookery.config import ConfigError

    try:
        return OWN_AGENT not in in_force.load(home).unconfined
    except ConfigError:
        return True
