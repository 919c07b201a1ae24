"""The keys in use, as the user may have changed them."""

from typing import Any

from textual.app import App

from rookery.core.settings.keys import DEFAULTS
from rookery.tui.look.key_names import shown


def keys_of(app: App[Any], name: str) -> str:
    """Separated by commas."""
    return str(app._keymap.get(name) or DEFAULTS[name])


def label(app: App[Any], name: str) -> str:
    """The first one, for a hint."""
    return shown(keys_of(app, name).partition(",")[0])
