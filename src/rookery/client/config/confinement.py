"""Whether an agent that is started without a worker gets Landlock's domain: a glance at
config.toml, since somebody waits for it."""

import os

DEMANDED = "ROOKERY_CONFINED"
"""In the environment of our own agent where its worker confines it. An agent could write there too:
so nothing in an environment says that it is not to be confined."""

OWN_AGENT = "rookery"


def is_off(home: str) -> bool:
    """Whether config.toml turns it off for our own agent."""
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return False
    if b"confined" not in data:
        return False  # the parser costs more than all else here
    from rookery.client.config import in_force
    from rookery.home.config import ConfigError

    try:
        return OWN_AGENT in in_force.load(home).unconfined
    except ConfigError:
        return False


def enter(*, off: bool) -> None:
    """Where the kernel has it, and nobody demands it all the same. Raises OSError."""
    from rookery.processes import landlock

    if landlock.available() and (not off or os.environ.get(DEMANDED)):
        landlock.enter_now()
