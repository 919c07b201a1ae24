"""Filters and merge drivers that are only in a repository's own configuration: anybody may have
written them, so they run only if the user trusts them, by their commands and in that repository."""

import base64
import json
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256

from rookery.client.config import in_force
from rookery.client.project_hooks import trust as trusts
from rookery.client.work_tree import hook_guard
from rookery.core.settings.loosening import OF_GIT
from rookery.git import settings
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.git.settings import Driver


def configured(place: Place) -> list[Driver]:
    """Return the drivers of the repository's own configuration. Raises NoGit."""
    return list(settings.read(place).own.values())


def trusted(home: str, place: Place) -> list[tuple[str, str]]:
    """Return the settings of the drivers that may run. Raises NoGit."""
    own = configured(place)
    known = _known(home, place) if own else ()
    return [pair for each in own for pair in _runnable(place, each, known)]


def untrusted(home: str, place: Place, names: Iterable[tuple[str, str]]) -> list[Driver]:
    """Return those drivers that attributes refer to, by kind and name, and that are not trusted.
    Raises NoGit."""
    known = _known(home, place)
    own = settings.read(place).own
    asked = [own[name] for name in dict.fromkeys(names) if name in own]
    return [each for each in asked if fingerprint(place, each) not in known]


def trust(home: str, place: Place, chosen: Sequence[Driver]) -> None:
    """Trust these drivers; the caller has asked the user. Raises Waiting, FromAgent, ConfigError,
    OSError."""
    trusts.keep(home, _name(place), [fingerprint(place, each) for each in chosen])


def forget(home: str, place: Place) -> bool:
    """Forget which drivers are trusted; return whether there were any. Raises FromAgent."""
    return trusts.forget(home, _name(place))


def fingerprint(place: Place, driver: Driver) -> str:
    """Return a fingerprint of the driver's commands, and of the repository's files that they
    name."""
    return _fingerprint(place, driver, _files(place, driver))


def _fingerprint(place: Place, driver: Driver, files: dict[str, str]) -> str:
    listed = {os.path.relpath(path, place.top): each for path, each in files.items()}
    whole = json.dumps([driver.kind, driver.name, driver.values, listed], sort_keys=True)
    return sha256(whole.encode()).hexdigest()


def _runnable(place: Place, driver: Driver, known: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield each command, preceded by a check that the files it names are still those that were
    trusted."""
    files = _files(place, driver)
    if _fingerprint(place, driver, files) not in known:
        return
    listed = base64.b64encode(json.dumps(files).encode()).decode("ascii")
    check = shlex.join([sys.executable, "-I", "-S", hook_guard.__file__, "files", listed])
    for key, value in driver.settings:
        is_command = files and key.rpartition(".")[2] != "required"
        yield key, f"{check} && {{ {value}\n}}" if is_command else value


def _files(place: Place, driver: Driver) -> dict[str, str]:
    """The files of the work tree and of the repository that the commands name, each with its
    current signature."""
    tokens: list[str] = []
    for _, command in driver.values:
        try:
            tokens += shlex.split(command)
        except ValueError:
            tokens += command.split()
    spots = {os.path.realpath(os.path.join(place.top, word)) for word in tokens}
    inside = (f"{place.top}/", f"{place.shared}/")
    named = sorted(each for each in spots if each.startswith(inside) and os.path.isfile(each))
    return {path: hook_guard.signature(path) for path in named}


def _known(home: str, place: Place) -> Sequence[str]:
    known: Sequence[str] = in_force.trusted(home).get(_name(place), ())
    return known


def _name(place: Place) -> str:
    return OF_GIT + os.path.realpath(place.shared)


__all__ = [
    "Driver",
    "NoGit",
    "configured",
    "fingerprint",
    "forget",
    "trust",
    "trusted",
    "untrusted",
]
