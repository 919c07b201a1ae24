"""The branch that a directory is on, read from git's own files: no program is started."""

import os

MAX_BYTES = 4096
"""Bytes read of a file of git's."""


def branch_of(cwd: str) -> str:
    """Return the branch, the start of a commit if none is checked out, or ""."""
    place = os.path.abspath(cwd)
    while not os.path.exists(path := os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
    if not os.path.isdir(path):  # a worktree or a submodule: a file that names the directory
        named = _read(path).removeprefix("gitdir:").strip()
        path = os.path.join(place, named)
    head = _read(os.path.join(path, "HEAD")).strip()
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:8] if head.isalnum() else ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return ""
