"""The keys in use, as the user may have changed them, as they are written on a keyboard, and as
terminals send them."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App

from rookery.core.settings.keys import DEFAULTS

NO_KEY = "no_key"
"""Means none, for the library: no keyboard has it."""


def keys_of(app: App[Any], name: str) -> str:
    """Separated by commas."""
    return str(app._keymap.get(name) or DEFAULTS[name])


def label(app: App[Any], name: str) -> str:
    """The first one, for a hint."""
    return first(app._keymap, name)


def first(keymap: Mapping[str, str], name: str) -> str:
    """The same, of these keys of the user's own."""
    return shown((keymap.get(name) or DEFAULTS[name]).partition(",")[0])


def shown(keys: str) -> str:
    """`ctrl+b` as `Ctrl+B`; separated by commas."""
    return ", ".join(_key(key.split("+")) for key in keys.split(","))


def _key(words: list[str]) -> str:
    """A letter alone stays as it is; with a modifier it is a capital."""
    *held, last = words
    last = last.upper() if held and len(last) == 1 else _word(last)
    return "+".join([*map(_word, held), last])


def _word(word: str) -> str:
    names = {"escape": "Esc", "down": "↓", "up": "↑", "left": "←", "right": "→", NO_KEY: "no key"}
    names |= {"pageup": "PageUp", "pagedown": "PageDown", "slash": "/", "question_mark": "?"}
    return names.get(word, word.capitalize() if len(word) > 1 else word)


class _Key(Enum):
    ALT_ENTER = "alt+enter"


def learn() -> None:
    """What terminals without the Kitty protocol send for a key that Textual does not know from
    them. Without this, Alt+Enter is Enter: it would steer where it should queue."""
    known = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    known["\x1b\r"] = (_Key.ALT_ENTER,)
