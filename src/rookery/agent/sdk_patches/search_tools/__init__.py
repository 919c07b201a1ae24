"""The search tools, which run unasked and so must not do more than search.

Made for openhands-tools 1.58: a pattern that begins with a dash is an option of `rg` to it, and
`--pre=PROGRAM` runs a program; without `rg`, a glob changes the directory of the whole process.
Unnecessary once a pattern follows `-e`, and a glob has a directory of its own.
"""

import glob
import os
from itertools import islice
from pathlib import Path
from typing import Any

from openhands.tools.glob.impl import GlobExecutor
from openhands.tools.grep.impl import GrepExecutor

from rookery.agent.sdk_patches import Around, wrap

MOST = 100
"""Files that are listed."""
MOST_SEEN = 100_000


def _grep(execute: Around, self: GrepExecutor, action: Any, conversation: Any = None) -> Any:
    if action.pattern.startswith("-"):
        action = action.model_copy(update={"pattern": f"[-]{action.pattern[1:]}"})
    if action.path:  # relative to the session's directory, not to the process's
        action = action.model_copy(update={"path": _place(self.working_dir, action.path)})
    return execute(self, action, conversation)


def _glob(execute: Around, self: GlobExecutor, action: Any, conversation: Any = None) -> Any:
    if action.path:
        action = action.model_copy(update={"path": _place(self.working_dir, action.path)})
    return execute(self, action, conversation)


def _place(working_dir: Path, path: str) -> str:
    return os.path.join(working_dir, os.path.expanduser(path))


def _files(
    _execute: Around, _self: GlobExecutor, pattern: str, search_path: Path
) -> tuple[list[str], bool]:
    """The newest files of a pattern, which matches at any depth, as with `rg`."""
    below = pattern if "**" in pattern else f"**/{pattern}"
    matches = islice(glob.iglob(below, root_dir=search_path, recursive=True), MOST_SEEN)
    places = [path for each in matches if os.path.isfile(path := os.path.join(search_path, each))]
    found = sorted(places, key=_changed, reverse=True)
    return found[:MOST], len(found) > MOST


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def install() -> None:
    wrap(GrepExecutor, "__call__", _grep)
    wrap(GlobExecutor, "__call__", _glob)
    wrap(GlobExecutor, "_execute_with_glob", _files)
