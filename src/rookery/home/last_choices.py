"""`choices.json` of an earlier build: the last choice in one session, once the start of all later
ones. It no longer loosens anything."""

import os
from contextlib import suppress

from rookery.core.json import lenient
from rookery.core.policy import modes
from rookery.home import paths

FILE = "choices.json"


def drop(home: str) -> str:
    """Take the file away. What it held beyond the strictest mode; "" where there was nothing."""
    path = os.path.join(home, FILE)
    value = lenient.text(paths.read_json(path) or {}, modes.OPTION)
    with suppress(OSError):  # a home that cannot be written to: it is told again
        os.unlink(path)
    return value if value in modes.VALUES and value != modes.EVERY else ""


def dropped(value: str, now: str) -> str:
    """What the user is told of it. `now`: how much is asked in the new session."""
    titles = {each: title for each, title, _ in modes.CHOICES}
    return (
        f"New sessions no longer start with {titles[value]!r}, which you chose in an "
        f"earlier session. This one starts with {titles[now]!r}. To set it for all new "
        f"sessions: rookery config set session.confirm {value}"
    )
