"""What a home and its sessions take on the disk."""

import os

from rookery.client.fleet import remove
from rookery.core.json.events import Json
from rookery.home import paths
from rookery.log.lock import is_locked

BLOCK = 512
"""Bytes; the unit in which the system counts a file's blocks, everywhere."""


def size_of(path: str) -> int:
    """Bytes that a file, or a directory with all that is in it, takes; 0 for what is gone."""
    try:
        taken = os.lstat(path).st_blocks * BLOCK
    except OSError:
        return 0
    if os.path.islink(path) or not os.path.isdir(path):
        return taken
    for directory, below, files in os.walk(path):
        for name in (*below, *files):
            try:
                taken += os.lstat(os.path.join(directory, name)).st_blocks * BLOCK
            except OSError:  # it went meanwhile
                continue
    return taken


def session_size(home: str, session: str) -> int:
    return size_of(paths.session_dir(home, session))


def is_in_use(home: str, head: Json) -> bool:
    """Awake, or about to be: its lock is held."""
    return bool(head["awake"]) or is_locked(paths.session_dir(home, head["id"]))


def remove_asleep(home: str, head: Json) -> bool:
    """Delete a session, unless it has come awake meanwhile; whether it was."""
    if is_in_use(home, head):
        return False
    remove(home, head["id"])
    return True
