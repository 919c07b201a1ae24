"""What a person last chose, for the next session: a small file in the home, which may be deleted
(row P6)."""

import json
import os
from contextlib import suppress

from rookery import paths
from rookery.core import confirming, loose

FILE = "choices.json"


def last_confirm(home: str) -> str:
    """How much was to be asked, as it was last chosen; every action where nobody chose."""
    known = paths.read_json(os.path.join(home, FILE)) or {}
    value = loose.text(known, confirming.OPTION)
    return value if value in confirming.VALUES else ""


def remember_confirm(home: str, value: str) -> None:
    path = os.path.join(home, FILE)
    known = paths.read_json(path) or {}
    with suppress(OSError):  # a convenience: a full disk must not fail what was chosen
        paths.write_atomic(path, json.dumps(known | {confirming.OPTION: value}).encode())
