"""The files of a directory, without those that git ignores or that tools leave behind."""

import os
import threading
import time

from rookery.client.work_tree import git
from rookery.core.view import fuzzy

MAX_PATHS = 50_000
LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".cache"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", "target", "dist", "build", ".next"}
)
FRESH = 10.0
"""Seconds for which a list may be used again: each letter of a query asks for it."""
KEPT = 8
"""Directories whose lists are remembered."""


def listed(cwd: str) -> list[str]:
    """Return relative paths, at most MAX_PATHS."""
    known = _known_to_git(cwd)
    return _walked(cwd) if known is None else known


def _known_to_git(cwd: str) -> list[str] | None:
    output = git.run(cwd, ["ls-files", "-z", "-co", "--exclude-standard"])
    if output is None:
        return None
    names = output.data.decode("utf-8", "surrogateescape").split("\0")
    if output.cut:
        names.pop()
    return [name for name in dict.fromkeys(names) if name and _can_be_said(name)][:MAX_PATHS]


def _walked(cwd: str) -> list[str]:
    listing: list[str] = []
    for place, folders, names in os.walk(cwd):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(place, name), cwd)
            if _can_be_said(path):
                listing.append(path)
        if len(listing) >= MAX_PATHS:
            break
    return listing[:MAX_PATHS]


def _can_be_said(name: str) -> bool:
    return name.isprintable()


class Finder:
    """Finds files by some letters of their names. May be used from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: dict[str, tuple[float, list[str]]] = {}

    def find(self, cwd: str, query: str, most: int = 8) -> list[str]:
        return fuzzy.ranked(query, self._listed(cwd), most)

    def _listed(self, cwd: str) -> list[str]:
        with self._lock:
            when, names = self._lists.get(cwd, (0.0, []))
        if names and time.monotonic() - when < FRESH:
            return names
        names = listed(cwd)
        with self._lock:
            self._lists.pop(cwd, None)
            self._lists[cwd] = (time.monotonic(), names)
            while len(self._lists) > KEPT:
                del self._lists[next(iter(self._lists))]
        return names
