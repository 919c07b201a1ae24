"""Removing `choices.json` of an earlier build, in which new sessions started with the last choice.
It no longer loosens anything."""

import os
from contextlib import suppress

from rookery.core.json import lenient
from rookery.core.policy import modes
from rookery.home import paths

FILE = "choices.json"


def drop(home: str) -> str:
    """Remove the file. Returns the mode in it if it is not the strictest one, else ""."""
    path = os.path.join(home, FILE)
    value = lenient.text(paths.read_json(path) or {}, modes.OPTION)
    with suppress(OSError):  # a read-only home: it is reported again
        os.unlink(path)
    return value if value in modes.VALUES and value != modes.EVERY else ""


def dropped(value: str, now: str) -> str:
    """Return the notice about the removal. `now`: the mode of the new session."""
    titles = {each: title for each, title, _ in modes.CHOICES}
    return (
        f"New sessions no longer start with {titles[value]!r}, which you chose in an "
        f"earlier session. This one starts with {titles[now]!r}. To set it for all new "
        f"sessions: rookery config set session.confirm {value}"
    )
