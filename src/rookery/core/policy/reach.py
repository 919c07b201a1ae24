"""Finding where a call reaches: outside the session's directories, or where only the owner should
read or write. Links are followed, since one inside may lead anywhere. Commands (`execute`) are not
judged here, but by their command line."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.dangers.places import is_below, named, normal
from rookery.core.policy import rules

WRITES = frozenset({"edit", "delete", "move"})
SILENT = frozenset({"execute", "think", "switch_mode"})
"""Kinds whose paths say nothing about what they read or write."""

KEYS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".kube"),
    *(".docker/config.json", ".netrc", ".git-credentials", ".npmrc", ".pypirc"),
)
"""In the user's home: what gives access to something else."""
OPEN = ("conversations", "memory", "skills")
"""In Rookery's home: what an agent may read. The rest holds keys, or decides what is asked."""
SKILLS = (".agents/skills", ".claude/skills", ".openhands/skills")


class Lay(NamedTuple):
    """The places around a session's directories, by what a call may do there."""

    homes: tuple[str, ...] = ()
    """The user's, by each of its names: as it is given, and with its links followed."""
    rookery: tuple[str, ...] = ()
    """Where Rookery keeps its own files; likewise."""
    free: tuple[str, ...] = ()
    """Anything may be written there: temporary directories."""
    readable: tuple[str, ...] = ()
    """Read as if it lay inside."""
    guarded: tuple[str, ...] = ()
    """Never free, wherever it lies: the checkout that a session's worktree was made from."""


def reached(call: rules.Call, lay: Lay) -> rules.Call:
    """Return the call with the findings about its paths: a danger, or that it reads outside."""
    if call.kind in SILENT:
        return call
    outside = next((path for path in call.paths if not _is_inside(path, call, lay)), "")
    danger = named([_private(call, lay), call.danger])
    if not danger and outside and call.kind in WRITES:
        danger = f"writes outside the session's directories ({outside})"
    return call._replace(danger=danger, outside=outside)


def _private(call: rules.Call, lay: Lay) -> str:
    writes = call.kind in WRITES
    for path in call.paths:
        if _in(path, lay.homes, KEYS):
            return f"{'writes to' if writes else 'reads'} your keys ({path})"
        if _is_rookerys(path, call, lay, writes=writes):
            return f"{'changes' if writes else 'reads'} Rookery's own files ({path})"
    return ""


def _is_rookerys(path: str, call: rules.Call, lay: Lay, *, writes: bool) -> bool:
    if not _in(path, lay.rookery) or (not writes and _in(path, lay.rookery, OPEN)):
        return False
    # To work in a folder of it is to choose that folder, not the settings beside it.
    chosen = (root for root in call.roots if root not in map(normal, lay.rookery))
    return not any(_in(root, lay.rookery) and is_below(path, root) for root in chosen)


def _is_inside(path: str, call: rules.Call, lay: Lay) -> bool:
    if _in(path, call.roots) or (_in(path, lay.free) and not _in(path, lay.guarded)):
        return True
    if call.kind in WRITES:
        return False
    return _in(path, lay.readable) or _in(path, lay.homes, SKILLS) or _in(path, lay.rookery, OPEN)


def _in(path: str, places: Iterable[str], names: Iterable[str] = ("",)) -> bool:
    """Whether the path lies below one of these names in one of these places."""
    return any(is_below(path, normal(f"{place}/{name}")) for place in places for name in names)
