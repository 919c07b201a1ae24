"""`choices.json` of an earlier build: what was last chosen in one session, and became the beginning
of all later ones. It loosens nothing any more (row P6)."""

import os
from contextlib import suppress

from rookery import paths
from rookery.core import confirming, loose

FILE = "choices.json"


def drop(home: str) -> str:
    """Take the file away. What it held beyond the strictest mode; "" where there was nothing."""
    path = os.path.join(home, FILE)
    value = loose.text(paths.read_json(path) or {}, confirming.OPTION)
    with suppress(OSError):  # a home that cannot be written to: it is told again
        os.unlink(path)
    return value if value in confirming.VALUES and value != confirming.EVERY else ""


def dropped(value: str, now: str) -> str:
    """What a person is told of it. `now`: how much is asked in the new session."""
    titles = {each: title for each, title, _ in confirming.CHOICES}
    return (
        f"{titles[value]!r}, chosen in an earlier session, is no longer how new sessions begin. "
        f"This one begins with {titles[now]!r}. "
        f"For all new sessions: rookery config set session.confirm {value}"
    )
