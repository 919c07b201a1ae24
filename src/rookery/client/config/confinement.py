"""Whether an agent started without a worker is confined, from a cheap look at config.toml."""

import os

from rookery.client import config as client_config
from rookery.processes import landlock

DEMANDED = "ROOKERY_CONFINED"
"""Set for our own agent if its worker confines it. An agent could set variables too, so no variable
turns this off."""

OWN_AGENT = "rookery"


def mentions(home: str, word: bytes) -> bool:
    """Tell whether config.toml contains the word at all. Parsing it would cost more than the rest
    of the start."""
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            return word in file.read()
    except OSError:
        return False


def is_off(home: str) -> bool:
    """Tell whether config.toml turns confinement off for our own agent."""
    if not mentions(home, b"confined"):
        return False
    from rookery.home.config import ConfigError

    try:
        return OWN_AGENT in client_config.in_force.load(home).unconfined
    except ConfigError:
        return False


def enter(*, off: bool) -> None:
    """Confine this process if the kernel can, unless it is off and not demanded. Raises OSError."""
    if landlock.available() and (not off or os.environ.get(DEMANDED)):
        landlock.enter_now()
