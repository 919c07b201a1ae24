"""The files of a directory, without those that git ignores or that tools leave behind."""

import os
import subprocess

MOST = 50_000
LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".cache"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", "target", "dist", "build", ".next"}
)
SECONDS = 10.0


def listed(cwd: str) -> list[str]:
    """Relative paths, at most MOST."""
    found = _known_to_git(cwd)
    return _walked(cwd) if found is None else found


def _known_to_git(cwd: str) -> list[str] | None:
    words = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        done = subprocess.run(
            words, cwd=cwd, check=False, capture_output=True, timeout=SECONDS, stdin=-3
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in dict.fromkeys(names) if name and _can_be_said(name)][:MOST]


def _walked(cwd: str) -> list[str]:
    found: list[str] = []
    for place, folders, names in os.walk(cwd):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(place, name), cwd)
            if _can_be_said(path):
                found.append(path)
        if len(found) >= MOST:
            break
    return found[:MOST]


def _can_be_said(name: str) -> bool:
    return name.isprintable()
