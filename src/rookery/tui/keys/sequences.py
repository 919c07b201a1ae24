"""What terminals without the Kitty protocol send for keys that Textual does not know from them."""

from enum import Enum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


class _Key(Enum):
    ALT_ENTER = "alt+enter"


def learn() -> None:
    """Without this, Alt+Enter is Enter: it would steer where it should queue."""
    known = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    known["\x1b\r"] = (_Key.ALT_ENTER,)
