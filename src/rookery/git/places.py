"""Finds a directory's repository without git: by its place alone, without consulting any
setting."""

import os
from typing import NamedTuple

OWN = ".git"
POINTER = "gitdir: "
POINTER_BYTES = 8192
REF = "ref: "


class Place(NamedTuple):
    own: str
    """What belongs to this work tree alone: HEAD and the index."""
    shared: str
    """What all work trees share: objects, refs, settings. The same, but in a linked work tree."""
    top: str
    """The work tree; "": there is none."""


NOWHERE = Place(os.devnull, os.devnull, "")


def find(cwd: str) -> Place | None:
    """Return the nearest repository that a directory is in, or that it is itself."""
    folder = os.path.realpath(cwd)
    while True:
        marker = os.path.join(folder, OWN)
        if os.path.lexists(marker):
            own = _led_to(marker)
            return Place(own, shared_of(own), folder) if own else None
        if is_repository(folder):
            return Place(folder, shared_of(folder), "")
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def at(own: str, top: str) -> Place:
    """Return the place of a repository whose directory is known."""
    return Place(own, shared_of(own), top)


def is_repository(folder: str) -> bool:
    """Tell whether a folder has what a repository must have. The part of a linked work tree has its
    objects elsewhere."""
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    shared = shared_of(folder)
    return all(os.path.isdir(os.path.join(shared, name)) for name in ("objects", "refs"))


def shared_of(own: str) -> str:
    line = _first_line(os.path.join(own, "commondir"))
    return os.path.normpath(os.path.join(own, line)) if line else own


def head(place: Place) -> str | None:
    """Return the commit that is checked out, read without git; "" if there is none yet. None if it
    cannot be read this way."""
    line = _first_line(os.path.join(place.own, "HEAD"))
    if not line.startswith(REF):
        return line or None
    name = line.removeprefix(REF)
    if os.path.lexists(os.path.join(place.shared, "reftable")):
        return None
    return _first_line(os.path.join(place.shared, name)) or _packed(place.shared, name)


def _packed(shared: str, name: str) -> str:
    try:
        with open(os.path.join(shared, "packed-refs"), "rb") as file:
            for line in file:
                commit, _, ref = line.rstrip().partition(b" ")
                if ref == os.fsencode(name):
                    return commit.decode("ascii", "replace")
    except OSError:
        pass
    return ""


def is_submodule(place: Place) -> bool:
    """Tell whether the repository is part of another one, by its place."""
    parts = os.path.realpath(place.own).split(os.sep)
    return f"{OWN}/modules/" in "/".join(parts) + "/" and os.path.isfile(
        os.path.join(place.top, OWN)
    )


def _led_to(marker: str) -> str:
    """The repository that a `.git` is, or names; "" if none."""
    if os.path.isdir(marker):
        path = os.path.realpath(marker)
    else:
        line = _first_line(marker)
        if not line.startswith(POINTER):
            return ""
        above = os.path.dirname(marker)
        path = os.path.realpath(os.path.join(above, line.removeprefix(POINTER)))
    return path if is_repository(path) else ""


def _first_line(path: str) -> str:
    """The first line of a file, without waiting for a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        data = os.read(file, POINTER_BYTES)
    except OSError:
        return ""
    finally:
        os.close(file)
    return os.fsdecode(data).partition("\n")[0].strip()
