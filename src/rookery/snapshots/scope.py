"""Which files a snapshot covers: the session's directory without what the user's git ignores;
without git, without what tools usually generate. Nothing of the user's configuration is used except
its ignore rules."""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from rookery.git import places, settings, shadow
from rookery.git.places import NOWHERE, Place
from rookery.git.program import NoGit
from rookery.snapshots.job import UNFIT, holds, unfit

MADE = (
    *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__"),
    *(
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".cache",
        ".gradle",
        ".terraform",
        ".DS_Store",
    ),
)
"""Left out where no ignore rules of a repository say it."""

MOST_FILES = {True: 300_000, False: 30_000}
MOST_BYTES = {True: 8 << 30, False: 1 << 30}
"""The limits of a directory in a repository, and of any other."""

SECONDS = 20.0


class Unfit(Exception):
    """No snapshot can be taken; the message says why, `reason` in a word."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Scope(NamedTuple):
    top: str
    """What paths are relative to: the top of the repository, or the directory itself."""
    below: str
    """The directory, from there; "": it is the top."""
    repository: bool
    excludes: str
    """For the store's `info/exclude`."""
    more: str
    """The user's own list of ignored files, for all repositories; "": none."""
    staged: str
    """The user's index; "": there is none."""
    head: str | None = None
    """The commit that is checked out; "": none yet; None: there is no repository, or it cannot be
    told."""


def find(root: str, environment: Mapping[str, str], avoid: str) -> Scope:
    """Determine the scope of a directory. `avoid`: Rookery's home, which may be in the directory.
    Raises Unfit."""
    root = os.path.realpath(root)
    if not os.path.isdir(root):
        raise Unfit("no_directory", f"{root} is not a directory.")
    if problem := unfit(root, avoid, environment):
        raise Unfit(UNFIT, problem)
    place = places.find(root)
    known = _settings(place, environment)
    if place is None or known is None or not place.top:
        place = None
    rules = _read(os.path.join(place.shared, "info/exclude")) if place else "\n".join(MADE)
    top = place.top if place else root
    home = os.path.realpath(avoid)
    if holds(top, home) and home != top:
        rules += f"\n/{_escaped(os.path.relpath(home, top))}/\n"
    listed = dict(known.plain).get("core.excludesfile", "") if known else ""
    return Scope(
        top,
        "" if root == top else os.path.relpath(root, top),
        place is not None,
        rules + "\n",
        os.path.expanduser(listed),
        os.path.join(place.own, "index") if place else "",
        places.head(place) if place else None,
    )


def _escaped(path: str) -> str:
    return "".join("\\" + each if each in "\\*?[" else each for each in path)


def _settings(place: Place | None, environment: Mapping[str, str]) -> settings.Settings | None:
    """The settings of a repository, or the user's global ones if there is none. None if they are
    unreadable."""
    try:
        return settings.read(place or NOWHERE, environment)
    except NoGit:
        return None


def _read(path: str) -> str:
    try:
        with open(path, errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def forced(scope: Scope, environment: Mapping[str, str], home: str) -> list[str]:
    """Return the files that the user's repository tracks although its rules ignore them."""
    args = ["ls-files", "-ci", "--exclude-standard", "-z", "--full-name", "--"]
    place = places.find(scope.top)
    if place is None:
        return []
    try:
        with shadow.opened(place, home=home, given=environment) as git:
            process = git.start(scope.top, [*args, f":(top,literal){scope.below}"])
            with process:
                try:
                    output, _ = process.communicate(timeout=SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    return []
    except (NoGit, OSError):
        return []
    return [path for path in os.fsdecode(output).split("\0") if path]
