"""Seeds a new store from the newest other store of the same directory: reading every file anew
would cost seconds of CPU, and disk space, for each session.

Objects never change, so they are linked, and each store stays complete when the other is deleted.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

FOLDER = "snapshots"
"""A folder in Rookery's home, with a file for each directory that names its newest store."""
FILES = ("meta.json", "index")
LOCK_TIMEOUT, EACH = 2.0, 0.02
"""Seconds to wait for the other store to be free, and between two tries."""
LONG = 60.0
"""The same for a fork: the snapshot of the last turn may be under way."""


@contextmanager
def planted(
    home: str, directory: str, store: str, blobs: Callable[[], Iterable[str]]
) -> Iterator[bool]:
    """Fill an empty store, then let its first snapshot be taken; whoever starts another one
    meanwhile waits. `blobs`: those that the index names. Yields whether more was linked than these:
    packs also contain what the other session had in earlier snapshots."""
    os.makedirs(folder := os.path.join(home, FOLDER), mode=0o700, exist_ok=True)
    name = os.path.join(folder, sha256(os.fsencode(directory)).hexdigest()[:32])
    with open(name, "ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        other, packed = os.fsdecode(file.read()), False
        if other and other != store:
            with suppress(OSError):
                packed = _fill(store, other, blobs)
        yield packed
        file.truncate(0)
        file.write(os.fsencode(store))


def _fill(store: str, other: str, blobs: Callable[[], Iterable[str]]) -> bool:
    """Link another store's objects. An index with missing objects is noticed by its user, and
    rebuilt."""
    with open(os.path.join(other, "lock"), "rb") as lock:
        if not _locked(lock.fileno()):
            return False
        for name in FILES:
            shutil.copyfile(os.path.join(other, name), os.path.join(store, name))
        packs = os.path.join("objects", "pack")
        packed = os.listdir(os.path.join(other, packs)) if _is_there(other, packs) else []
        loose = (os.path.join("objects", blob[:2], blob[2:]) for blob in blobs())
        for name in (*loose, *(os.path.join(packs, each) for each in packed)):
            with suppress(FileNotFoundError, FileExistsError):
                os.makedirs(os.path.dirname(os.path.join(store, name)), exist_ok=True)
                _link(os.path.join(other, name), os.path.join(store, name))
        return bool(packed)


def share(other: str, store: str) -> None:
    """Copy all of another store, for a fork; common objects are linked. If that fails, the fork has
    no earlier snapshots."""
    with suppress(OSError), open(os.path.join(other, "lock"), "rb") as lock:
        if _locked(lock.fileno(), LONG):
            shutil.copytree(other, store, copy_function=_shared, symlinks=True)


def _shared(source: str, target: str) -> str:
    """Link an object, which never changes; copy anything else, which each store has its own of."""
    if f"{os.sep}objects{os.sep}" in source[-120:]:
        _link(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def _is_there(store: str, name: str) -> bool:
    return os.path.isdir(os.path.join(store, name))


def _locked(lock: int, patience: float = LOCK_TIMEOUT) -> bool:
    """Lock a store and return True; False on timeout. It does not wait for ever: two could wait for
    each other."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(EACH)
        else:
            return True


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:  # a file system without links, or too many of them
        shutil.copyfile(source, target)
