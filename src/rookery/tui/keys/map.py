"""Which keys they are now, where a person chose others."""

from typing import Any

from textual.app import App

from rookery.core.settings.keys import DEFAULTS
from rookery.tui.look.key_names import shown


def keys_of(app: App[Any], name: str) -> str:
    """What a key is now, several with a comma."""
    return str(app._keymap.get(name) or DEFAULTS[name])


def label(app: App[Any], name: str) -> str:
    """The first of them, for a hint."""
    return shown(keys_of(app, name).partition(",")[0])
