"""The git program that is run, and the environment that it gets."""

import os
from collections.abc import Mapping
from functools import cache

from rookery.core.refusals import Fixed
from rookery.git.places import OWN, Place

KEPT = frozenset(
    f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")
)
"""Variables of git's that say who commits. No other reaches it."""
OF_THE_USER = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Where the user's own settings are."""
SYSTEM = ("/usr/bin", "/bin")
_NETWORK = ("GIT_ASKPASS", "GIT_HTTP", "GIT_PROXY", "GIT_SSH", "GIT_SSL")


class NoGit(Fixed):
    """Git cannot be used here; the message says why."""

    reason = "no_git"


def search_path(place: Place, path: str | None = None) -> str:
    """Return PATH without relative entries, and without folders of the repository and of its work
    trees: anybody may have put programs there."""
    given = os.environ.get("PATH", os.defpath) if path is None else path
    avoid = _avoided(place)
    folders = [each for each in given.split(os.pathsep) if os.path.isabs(each)]
    return os.pathsep.join([each for each in folders if not _is_in(each, avoid)] or SYSTEM)


def program(place: Place, path: str | None = None) -> str:
    """Return the path of git itself. Raises NoGit."""
    avoid = _avoided(place)
    for folder in search_path(place, path).split(os.pathsep):
        candidate = os.path.join(folder, "git")
        is_program = os.access(candidate, os.X_OK) and os.path.isfile(candidate)
        if is_program and not _is_in(candidate, avoid):
            return candidate
    raise NoGit("git is not on PATH.")


@cache
def _avoided(place: Place) -> tuple[str, ...]:
    above, name = os.path.split(os.path.realpath(place.shared))
    tops = {place.top, above if name == OWN else os.path.join(above, name)}
    return tuple(_outermost(each) for each in tops if each)


def _outermost(top: str) -> str:
    """The outermost work tree around a work tree, below the user's home: a submodule is in
    another."""
    home = os.path.realpath(os.path.expanduser("~"))
    outermost, folder = top, top
    while folder != home and not _is_in(home, (folder,)) and folder != os.sep:
        if os.path.lexists(os.path.join(folder, OWN)):
            outermost = folder
        folder = os.path.dirname(folder)
    return outermost


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    path = os.path.realpath(path) + os.sep
    return any(path.startswith(each + os.sep) for each in folders if each != os.sep)


def for_network() -> dict[str, str]:
    """Return this process's variables about reaching other machines, and the protocols allowed:
    none that names a command."""
    user = {key: value for key, value in os.environ.items() if key.startswith(_NETWORK)}
    return user | {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}


def environment(place: Place, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return git's environment, derived from the given one, or from this process's."""
    inherited = os.environ if given is None else given
    kept = {
        key: value for key, value in inherited.items() if not key.startswith("GIT_") or key in KEPT
    }
    return kept | {
        "PATH": search_path(place, inherited.get("PATH")),
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }
