"""Filters and merge drivers that only a repository's own configuration has: anybody may have
written it, so they run where the user trusts them, by their commands and in that repository."""

import hashlib
import os
import shlex
from collections.abc import Iterable, Sequence

from rookery.core.json import Json, dumps
from rookery.git import settings
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.git.settings import Driver
from rookery.home import paths

FILE = "trusted-git-programs.json"
"""In Rookery's home."""
LARGEST = 1024 * 1024
"""Bytes of a script that counts with the command that names it."""


def found(place: Place) -> list[Driver]:
    """Raises NoGit."""
    return list(settings.read(place).own.values())


def trusted(home: str, place: Place) -> list[tuple[str, str]]:
    """The settings of those that may run. Raises NoGit."""
    own = found(place)
    known = _known(home, place) if own else {}
    good = (each for each in own if known.get(_key(each)) == fingerprint(place, each))
    return [pair for each in good for pair in each.settings]


def untrusted(home: str, place: Place, names: Iterable[tuple[str, str]]) -> list[Driver]:
    """Of those that attributes name, by kind and name. Raises NoGit."""
    known = _known(home, place)
    own = settings.read(place).own
    asked = [own[name] for name in dict.fromkeys(names) if name in own]
    return [each for each in asked if known.get(_key(each)) != fingerprint(place, each)]


def trust(home: str, place: Place, chosen: Sequence[Driver]) -> None:
    """Whoever calls it has asked the user."""
    everything = paths.read_json(os.path.join(home, FILE)) or {}
    here = {**_known(home, place), **{_key(each): fingerprint(place, each) for each in chosen}}
    everything[_name(place)] = here
    _write(home, everything)


def forget(home: str, place: Place) -> bool:
    """Whether there was something."""
    everything = paths.read_json(os.path.join(home, FILE)) or {}
    there = everything.pop(_name(place), None)
    if there is not None:
        _write(home, everything)
    return bool(there)


def _write(home: str, everything: Json) -> None:
    paths.write_atomic(os.path.join(home, FILE), dumps(everything).encode("ascii"), 0o600)


def fingerprint(place: Place, driver: Driver) -> str:
    """Of the commands, and of the repository's files that they name."""
    digest = hashlib.sha256(str(driver).encode("utf-8", "surrogateescape"))
    for path in _files(place, driver):
        digest.update(b"\0" + os.fsencode(os.path.relpath(path, place.top)) + _content(path))
    return digest.hexdigest()


def _files(place: Place, driver: Driver) -> list[str]:
    """Those of the work tree and of the repository."""
    words: list[str] = []
    for _, command in driver.values:
        try:
            words += shlex.split(command)
        except ValueError:
            words += command.split()
    spots = [os.path.realpath(os.path.join(place.top, word)) for word in words]
    inside = (f"{place.top}/", f"{place.shared}/")
    return sorted({each for each in spots if each.startswith(inside) and os.path.isfile(each)})


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read(LARGEST)).digest()
    except OSError:
        return b""


def _known(home: str, place: Place) -> Json:
    everything = paths.read_json(os.path.join(home, FILE)) or {}
    here = everything.get(_name(place))
    return here if isinstance(here, dict) else {}


def _name(place: Place) -> str:
    return os.path.realpath(place.shared)


def _key(driver: Driver) -> str:
    return f"{driver.kind}.{driver.name}"


__all__ = ["Driver", "NoGit", "fingerprint", "forget", "found", "trust", "trusted", "untrusted"]
