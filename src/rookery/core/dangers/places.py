"""Classifying paths by their text alone: the session's, the system's, your keys."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import NamedTuple

HOLY = (
    *("/etc", "/usr", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/proc", "/sys"),
    *("/System", "/Library/LaunchDaemons", "/private/etc"),
)
_SINKS = ("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx")
_PASSING = ("/dev/fd", "/dev/pts", "/proc/self/fd")
_HOOKS = ("/.rookery/hooks.json", "/.openhands/hooks.json")
"""A project's, which Rookery's own agent runs."""
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp", "/var/folders")  # noqa: S108


MOST_NAMED, LONGEST_NAMED = 20, 300
"""Dangers of one line that are named, and characters of each."""


def named(whys: Iterable[str]) -> str:
    """Join several dangers into one phrase; "" if there are none."""
    phrases = list(dict.fromkeys(why[:LONGEST_NAMED] for why in whys if why))
    if len(phrases) > MOST_NAMED:
        phrases[MOST_NAMED - 1 :] = [f"{len(phrases) - MOST_NAMED + 1} more such things"]
    return " and ".join(filter(None, (", ".join(phrases[:-1]), *phrases[-1:])))


NEW, KEPT, LOST = "new", "kept", "lost"
"""The fate of a file that is overwritten: it is new, a snapshot has it, or nothing has."""


class Ground(NamedTuple):
    """The surroundings in which a line runs."""

    roots: tuple[str, ...]
    """The session's directories, its own first."""
    home: str
    free: tuple[str, ...] = ()
    """Anything may be written there."""
    guarded: tuple[str, ...] = ()
    """Never free, wherever it lies."""
    place: str = ""
    """Where it begins; "": in the first of them."""
    fates: Mapping[str, str] | None = None
    """Of the files that a line overwrites, by path; None: nobody looked."""

    def start(self) -> str:
        return self.place or next(iter(self.roots), "")

    def is_inside(self, path: str) -> bool:
        return any(is_below(path, normal(root)) for root in self.roots)

    def is_free(self, path: str, *, temporary: bool = False) -> bool:
        """Whether anything may be written at a path. With `temporary`, the system's temporary
        directories count as well."""
        if any(is_below(path, normal(place)) for place in self.guarded):
            return False
        named = any(is_below(path, normal(place)) for place in self.free)
        return named or (temporary and is_temporary(path))


def normal(path: str) -> str:
    """Return an absolute path without `.` and `..`."""
    return posixpath.normpath("/" + path.lstrip("/"))


def is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def is_sink(path: str) -> bool:
    """Whether what is written to a path is discarded or displayed, so that it changes nothing."""
    passes = any(is_below(path, place) for place in _PASSING)
    return passes or path in {f"/dev/{name}" for name in _SINKS}


def is_temporary(path: str) -> bool:
    return any(is_below(path, place) for place in TEMPORARY)


def special(path: str, ground: Ground) -> str:
    """Return why writing to a plain path is dangerous wherever the session is; "" if it is not."""
    if is_below(path, normal(ground.home + "/.ssh")):
        return f"writes to your keys ({path})"
    if path.endswith(_HOOKS):
        return f"changes commands that run without asking ({path})"
    roots = map(normal, (*ground.roots, *ground.free))
    inside = any(root != "/" and is_below(path, root) for root in roots)
    if not inside and any(is_below(path, place) for place in HOLY):
        return f"writes to the system ({path})"
    return ""


def outside(path: str, ground: Ground) -> str:
    if ground.is_inside(path) or ground.is_free(path):
        return ""
    return f"writes outside the session's directories ({path})"
