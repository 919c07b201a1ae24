"""How far a person has looked at a session (row H4): a small file beside the log, since looking
needs no lock and wakes nobody. Every client marks; every list tells what is unread."""

import json
import os
from contextlib import suppress

from rookery.core.json import lenient
from rookery.home import paths


def mark(directory: str, seq: int) -> None:
    """A person has seen the session's events up to `seq`. Never goes back."""
    if seq <= seen(directory):
        return
    data = json.dumps({"seq": seq}).encode("ascii")
    with suppress(OSError):  # whoever may only read can still look
        paths.write_atomic(os.path.join(directory, paths.SEEN), data, 0o600)


def seen(directory: str) -> int:
    return lenient.integer(paths.read_json(os.path.join(directory, paths.SEEN)), "seq") or 0
