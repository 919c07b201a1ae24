"""Resolving a tool call for the rules, with the links in its paths followed: for workers, and for
our own agent when it runs without one."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rookery.core.dangers.places import Ground
from rookery.core.json import Json
from rookery.core.policy import danger, reach, rules
from rookery.home import overwritten

MOST_LINKS = 50
"""Paths of a call whose links are followed: a call with more is allowed by no relative path."""
MOST_BYTES = 4096
"""How much is read of a file that names a path."""
UNKNOWN = "/\0"
NO_SNAPSHOTS = overwritten.Snapshots()

TEMPORARY = "/tmp"  # noqa: S108 (judged, not written to)


def lay(rookery: str, environment: Mapping[str, str], *readable: str) -> reach.Lay:
    """Return the places around a session's directories; `rookery`: Rookery's own home."""
    named = environment.get("TMPDIR", "")
    home = os.path.expanduser("~")
    free = [TEMPORARY]
    if os.path.isabs(named) and not _is_above(named, home):
        free.append(named)
    return reach.Lay(_both([home]), _both([rookery]), _both(free), _both(readable))


def guarded(cwd: str, *origins: str) -> tuple[str, ...]:
    """Return the checkouts that a session's worktree was made from, according to its files and to
    `origins` (directories of it, or its `.git`). They are not free, even in a temporary directory.
    """
    own = _top(cwd)
    common = _common(own) if own else ""
    tops = {_top(os.path.dirname(each) if each.endswith("/.git") else each) or each
            for each in (common, *origins) if each}  # fmt: skip
    return _both(sorted(tops - {own}))


def project_of(cwd: str, origin: str = "") -> str:
    """Return the directory that "this project" means: that of the repository, unless that is the
    user's home or contains it. `origin`: the directory that a worktree was made for."""
    place = os.path.realpath(origin or cwd)
    top = _top(place)
    return place if not top or _is_above(top, os.path.expanduser("~")) else top


def _top(folder: str) -> str:
    """Return the top directory of the repository that the folder is in; "" if it is in none."""
    folder = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, last = os.path.dirname(folder), folder
        if folder == last:
            return ""
    return folder


def _common(top: str) -> str:
    """Return the repository's directory that a worktree shares; "" if it is not a worktree."""
    try:
        with open(os.path.join(top, ".git"), encoding="utf-8") as file:
            own = os.path.join(top, file.read(MOST_BYTES).removeprefix("gitdir:").strip())
        with open(os.path.join(own, "commondir"), encoding="utf-8") as file:
            return os.path.realpath(os.path.join(own, file.read(MOST_BYTES).strip()))
    except (OSError, ValueError):  # a repository itself, or a submodule
        return ""


def _both(given: Sequence[str]) -> tuple[str, ...]:
    """Return each path as given and with its links followed."""
    return tuple(dict.fromkeys([*map(os.path.realpath, given), *given]))


def _is_above(place: str, path: str) -> bool:
    """Whether a directory contains a path: a temporary one that contains the home does not count as
    temporary."""
    above = os.path.realpath(place)
    return os.path.commonpath([above, os.path.realpath(path)]) == above


def look_at(
    agent: str,
    call: Json,
    given: Sequence[str],
    lay: reach.Lay,
    snapshots: overwritten.Snapshots | None = NO_SNAPSHOTS,
    origin: str = "",
) -> rules.Call:
    """Convert a tool call for the rules. `given`: the session's directories, its own first.
    `snapshots`: None if its files are elsewhere. `origin`: the directory that its worktree was made
    for."""
    roots = _both(given)
    home = os.path.expanduser("~")
    ground = Ground(roots, home, lay.free, lay.guarded)
    overwrites = danger.overwritten(call, ground)
    targets = list(dict.fromkeys(each.path for each in overwrites if each.path))
    fates = overwritten.fates(targets, given[0], lay, snapshots) if snapshots and targets else {}
    own = [given[0], *([origin] if origin else [])]
    projects = roots if own == [*given] else _both(own)
    seen = rules.call_of(
        *(agent, call, roots, home, lay.free),
        guarded=lay.guarded,
        overwrites=(overwrites, fates),
        projects=projects,
    )
    paths = dict.fromkeys(seen.paths)
    for path in seen.paths[:MOST_LINKS]:
        with suppress(ValueError):  # no file can have such a path
            paths[os.path.realpath(path)] = None
    if len(seen.paths) > MOST_LINKS:
        paths[UNKNOWN] = None
    return reach.reached(seen._replace(paths=tuple(paths)), lay)
