"""Which files a snapshot is of: the session's directory without what the user's git ignores; where
there is no git, without what is usually made by tools. Nothing of the user's configuration is used
but its ignore rules."""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

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
"""Of a directory in a repository, and of any other."""

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


def find(git: str, root: str, environment: Mapping[str, str], avoid: str) -> Scope:
    """`avoid`: Rookery's home, which may be in the directory. Raises Unfit."""
    root = os.path.realpath(root)
    if not os.path.isdir(root):
        raise Unfit("no_directory", f"{root} is not a directory.")
    if words := unfit(root, avoid, environment):
        raise Unfit(UNFIT, words)
    said = _ask(
        git, root, environment, "rev-parse", "--show-toplevel", "--git-path", "info/exclude"
    )
    top, exclude, *_ = [*said.split("\n"), "", ""]
    if not top or not holds(top, root):
        top = exclude = ""
    rules = _read(os.path.join(root, exclude)) if exclude else "\n".join(MADE)
    top = top or root
    home = os.path.realpath(avoid)
    if holds(top, home) and home != top:
        rules += f"\n/{_escaped(os.path.relpath(home, top))}/\n"
    more = _ask(git, root, environment, "config", "--path", "--get", "core.excludesFile")
    index = _ask(git, root, environment, "rev-parse", "--git-path", "index") if exclude else ""
    return Scope(
        top,
        "" if root == top else os.path.relpath(root, top),
        bool(exclude),
        rules + "\n",
        more,
        os.path.join(root, index) if index else "",
    )


def _escaped(path: str) -> str:
    return "".join("\\" + each if each in "\\*?[" else each for each in path)


def _ask(git: str, root: str, environment: Mapping[str, str], *words: str) -> str:
    """Of the user's repository; "": there is none, or it does not say. These run no program that a
    configuration names."""
    env = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    env |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        said = subprocess.run(
            [git, "-c", "core.fsmonitor=false", *words],
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(said.stdout).removesuffix("\n") if said.returncode == 0 else ""


def _read(path: str) -> str:
    try:
        with open(path, errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def forced(git: str, scope: Scope, environment: Mapping[str, str]) -> list[str]:
    """Files that the user's repository has although its rules ignore them."""
    words = ["ls-files", "-ci", "--exclude-standard", "-z", "--full-name", "--"]
    said = _ask(git, scope.top, environment, *words, f":(top,literal){scope.below}")
    return [path for path in said.split("\0") if path]
