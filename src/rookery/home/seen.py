"""How far the user has read a session: a small file beside the log, since reading needs no lock and
no worker. Every client updates it; lists show what is unread."""

import json
import os
from contextlib import suppress

from rookery.core.json import lenient
from rookery.home import paths


def mark(directory: str, seq: int) -> None:
    """Record that the events up to `seq` have been seen. Never goes back."""
    if seq <= seen(directory):
        return
    data = json.dumps({"seq": seq}).encode("ascii")
    with suppress(OSError):  # read-only access is enough to look
        paths.write_atomic(os.path.join(directory, paths.SEEN), data, 0o600)


def seen(directory: str) -> int:
    return lenient.integer(paths.read_json(os.path.join(directory, paths.SEEN)), "seq") or 0
