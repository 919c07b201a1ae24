"""The keys in use, which the user may have changed: as they are written on a keyboard, and as
terminals send them."""

from collections.abc import Mapping
from typing import Any

from textual.app import App

from rookery.core.settings.keys import DEFAULTS
from rookery.tui.private import keymap

NO_KEY = "no_key"
"""Means none, for the library: no keyboard has it."""


def keys_of(app: App[Any], name: str) -> str:
    """Return the keys of an action, separated by commas."""
    return str(keymap(app).get(name) or DEFAULTS[name])


def label(app: App[Any], name: str) -> str:
    """Return the first key of an action, for a hint."""
    return first(keymap(app), name)


def first(keys: Mapping[str, str], name: str) -> str:
    """Return the first key of an action in the user's own keymap, for a hint."""
    return shown((keys.get(name) or DEFAULTS[name]).partition(",")[0])


def shown(keys: str) -> str:
    """Return keys as on a keyboard, `ctrl+b` as `Ctrl+B`, separated by commas."""
    return ", ".join(_key(key.split("+")) for key in keys.split(","))


def _key(parts: list[str]) -> str:
    """Return a key as written. A letter alone stays as it is; with a modifier, a capital."""
    *held, last = parts
    last = last.upper() if held and len(last) == 1 else _word(last)
    return "+".join([*map(_word, held), last])


def _word(word: str) -> str:
    names = {"escape": "Esc", "down": "↓", "up": "↑", "left": "←", "right": "→", NO_KEY: "no key"}
    names |= {"pageup": "PageUp", "pagedown": "PageDown", "slash": "/", "question_mark": "?"}
    return names.get(word, word.capitalize() if len(word) > 1 else word)
