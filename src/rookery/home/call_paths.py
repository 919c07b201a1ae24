"""A tool call as rules see it, with the links in its paths followed: for workers and for our own
agent without one."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rookery.core.json import Json
from rookery.core.policy import reach, rules

MOST_LINKS = 50
"""Paths of a call whose links are followed: a call with more is allowed by no relative path."""
UNKNOWN = "/\0"

TEMPORARY = "/tmp"  # noqa: S108 (judged, not written to)


def lay(rookery: str, environment: Mapping[str, str], *readable: str) -> reach.Lay:
    """What surrounds the directories of a session; `rookery`: Rookery's own home."""
    named = environment.get("TMPDIR", "")
    home = os.path.expanduser("~")
    free = [TEMPORARY]
    if os.path.isabs(named) and not _is_above(named, home):
        free.append(named)
    return reach.Lay(_both([home]), _both([rookery]), _both(free), _both(readable))


def _both(given: Sequence[str]) -> tuple[str, ...]:
    """Each path as given and with its links followed."""
    return tuple(dict.fromkeys([*map(os.path.realpath, given), *given]))


def _is_above(place: str, path: str) -> bool:
    """A temporary directory that contains the home does not count as one."""
    above = os.path.realpath(place)
    return os.path.commonpath([above, os.path.realpath(path)]) == above


def look_at(agent: str, call: Json, given: Sequence[str], lay: reach.Lay) -> rules.Call:
    """`given`: the session's directories, its own first."""
    roots = _both(given)
    home = os.path.expanduser("~")
    seen = rules.call_of(agent, call, roots, home, lay.free)
    paths = dict.fromkeys(seen.paths)
    for path in seen.paths[:MOST_LINKS]:
        with suppress(ValueError):  # no file can have such a path
            paths[os.path.realpath(path)] = None
    if len(seen.paths) > MOST_LINKS:
        paths[UNKNOWN] = None
    return reach.reached(seen._replace(paths=tuple(paths)), lay)
