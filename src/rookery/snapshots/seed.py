"""A new store begins with what the newest other one of the same directory has: to read every file
anew takes seconds of a processor, and its space on the disk, for each session.

Objects never change, so they are linked, and each store stays whole when the other is deleted.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

FOLDER = "snapshots"
"""Of Rookery's home: for each directory a file that names its newest store."""
FILES = ("meta.json", "index")
PATIENCE, EACH = 2.0, 0.02
"""Seconds for the other store to be free."""
LONG = 60.0
"""The same for a fork: the snapshot of the last turn may be under way."""


@contextmanager
def planted(
    home: str, directory: str, store: str, blobs: Callable[[], Iterable[str]]
) -> Iterator[bool]:
    """Fill an empty store, then let its first snapshot be taken: who begins another one meanwhile
    waits for it. `blobs`: those that the index names. What is given is whether more was linked than
    these: packs hold what the other session had in earlier snapshots, too."""
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
    """An index whose objects are not all there is noticed by who uses it, and made anew."""
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
    """All of another store, for a fork: what is in both is linked. What cannot be had leaves the
    fork without snapshots of before."""
    with suppress(OSError), open(os.path.join(other, "lock"), "rb") as lock:
        if _locked(lock.fileno(), LONG):
            shutil.copytree(other, store, copy_function=_shared, symlinks=True)


def _shared(source: str, target: str) -> str:
    """Objects never change; all else is each store's own."""
    if f"{os.sep}objects{os.sep}" in source[-120:]:
        _link(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def _is_there(store: str, name: str) -> bool:
    return os.path.isdir(os.path.join(store, name))


def _locked(lock: int, patience: float = PATIENCE) -> bool:
    """Whether nobody works there. Not waited for without end: two could wait for each other."""
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
