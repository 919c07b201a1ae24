"""Keeps a file the same file when its contents are replaced: its other names get them, too, and its
owner stays. Usually a new file takes its name, atomically; if that could not be the same file, it
is overwritten."""

import os
import stat
from contextlib import suppress

_OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def overwrite(folder: int, name: str, data: bytes, mode: int) -> bool:
    """Overwrite a file and return True. False if a new file can take its name, or there is no file.
    A failure is undone. Raises OSError."""
    try:
        file = os.open(name, _OPEN, dir_fd=folder)
    except OSError:
        return False
    with open(file, "r+b", buffering=0) as stream:
        state = os.fstat(file)
        if not stat.S_ISREG(state.st_mode) or can_be_replaced(state):
            return False
        before = stream.read()
        try:
            fill(file, data)
        except OSError:
            fill(file, before)
            raise
        with suppress(OSError):
            os.fchmod(file, mode)
    return True


def give(file: int, folder: int, name: str) -> None:
    """Give a new file to the owner of the one whose name it takes."""
    with suppress(OSError):
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        os.fchown(file, state.st_uid, state.st_gid)


def can_be_replaced(state: os.stat_result) -> bool:
    """Tell whether a new file under its name is the same file for everybody: it has no other name,
    and its owner can be preserved."""
    user = os.geteuid()
    groups = (os.getegid(), *os.getgroups())
    owned = user == 0 or (state.st_uid == user and state.st_gid in groups)
    return state.st_nlink == 1 and owned


def fill(file: int, data: bytes) -> None:
    """Write the contents and truncate at the end, not at the beginning: what is overwritten needs
    no space."""
    at = 0
    while at < len(data):
        at += os.pwrite(file, data[at:], at)
    os.ftruncate(file, len(data))
