"""Paths by their text alone: which belong to the session, to the system, to your keys."""

import posixpath
from collections.abc import Iterable

HOLY = (
    *("/etc", "/usr", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/proc", "/sys"),
    *("/System", "/Library/LaunchDaemons", "/private/etc"),
)
_SINKS = ("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx")
_PASSING = ("/dev/fd", "/dev/pts", "/proc/self/fd")
_HOOKS = ("/.rookery/hooks.json", "/.openhands/hooks.json")
"""A project's, which Rookery's own agent runs."""
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp", "/var/folders")  # noqa: S108


def normal(path: str) -> str:
    """An absolute path without `.` and `..`."""
    return posixpath.normpath("/" + path.lstrip("/"))


def is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def is_sink(path: str) -> bool:
    """What is written there is gone, or shown: it changes nothing."""
    passes = any(is_below(path, place) for place in _PASSING)
    return passes or path in {f"/dev/{name}" for name in _SINKS}


def is_temporary(path: str) -> bool:
    return any(is_below(path, place) for place in TEMPORARY)


def special(path: str, roots: Iterable[str], home: str) -> str:
    """Why writing to a plain path is dangerous wherever the session is; "": it is not."""
    if is_below(path, normal(home + "/.ssh")):
        return f"writes to your keys ({path})"
    if path.endswith(_HOOKS):
        return f"changes commands that run without asking ({path})"
    inside = any(root != "/" and is_below(path, root) for root in map(normal, roots))
    if not inside and any(is_below(path, place) for place in HOLY):
        return f"writes to the system ({path})"
    return ""


def outside(path: str, roots: Iterable[str]) -> str:
    if any(is_below(path, normal(root)) for root in roots):
        return ""
    return f"writes outside the session's directories ({path})"
