"""The search tools, which run unasked and so must not do more than search, nor without end.

Made for openhands-tools 1.58. A pattern that begins with a dash is an option of `rg` to it, and
`--pre=PROGRAM` runs a program. Without `rg`, `grep` reads a regular expression as another kind than
the tool says (no `|`, no `\\d`); one unreadable file, and Python reads all again: it waits for a
pipe without end, and an expression that needs long stops the whole process. A glob changes the
directory of the whole process, and follows links in circles. `*.{js,ts}` finds nothing. No cancel
ends any of it. Unnecessary once a search is one program that is told its pattern with `-e`, can be
ended, and follows no links.
"""

import os
from pathlib import Path
from typing import Any

from openhands.sdk.utils import sanitized_env
from openhands.tools.glob.definition import GlobObservation
from openhands.tools.glob.impl import GlobExecutor
from openhands.tools.grep.definition import GrepObservation
from openhands.tools.grep.impl import GrepExecutor

from rookery.agent import search
from rookery.agent.sdk_patches import Around, wrap

MAX_PATHS = 100
"""Files that are listed for the model."""
LEFT_OUT = (
    f"Hidden directories, {search.SKIPPED} and ignored files are left out unless you name them."
)
LATE = (
    f"There was no time for all: the search was ended after {search.SECONDS:.0f} seconds. Search a "
    "directory further down (`path`), or fewer files."
)


def _grep(_execute: Around, self: GrepExecutor, action: Any, conversation: Any = None) -> Any:  # noqa: ARG001
    root, include = _place(self.working_dir, action.path), action.include or ""
    about = {"pattern": action.pattern, "search_path": root, "include_pattern": action.include}
    hits, fault = search.Hits([]), ""
    with search.begun(self) as run:
        try:
            _check(root)
            hits = search.by_content(run, action.pattern, root, include, sanitized_env())
        except (search.SearchError, OSError, ValueError) as error:
            fault = str(error)
    only = f" (files {include})" if include else ""
    text = fault or _report(hits, f"Files that contain {action.pattern!r} in {root}{only}")
    more: Any = {"matches": hits.paths[:MAX_PATHS], "truncated": len(hits.paths) > MAX_PATHS}
    return GrepObservation.from_text(text, is_error=bool(fault), **about, **more)


def _glob(_execute: Around, self: GlobExecutor, action: Any, conversation: Any = None) -> Any:  # noqa: ARG001
    root = _place(self.working_dir, action.path)
    hits, fault = search.Hits([]), ""
    with search.begun(self) as run:
        try:
            _check(root)
            hits = search.by_name(run, action.pattern, root)
        except (search.SearchError, OSError, ValueError) as error:
            fault = str(error)
    text = fault or _report(hits, f"Files that match {action.pattern!r} in {root}")
    more: Any = {"files": hits.paths[:MAX_PATHS], "truncated": len(hits.paths) > MAX_PATHS}
    about = {"pattern": action.pattern, "search_path": root}
    return GlobObservation.from_text(text, is_error=bool(fault), **about, **more)


def _place(working_dir: Path, path: str | None) -> str:
    """Resolve a path relative to the session's directory, not the process's."""
    return os.path.realpath(os.path.join(working_dir, os.path.expanduser(path or "")))


def _check(root: str) -> None:
    if not os.path.isdir(root):
        raise search.SearchError(f"{root} is not a directory.")


def _report(hits: search.Hits, what: str) -> str:
    count = len(hits.paths)
    lines = [f"{what}: {count or 'none'}", *hits.paths[:MAX_PATHS]]
    if count > MAX_PATHS:
        lines.append(f"These are the newest {MAX_PATHS}. A stricter pattern finds fewer.")
    if hits.late:
        lines.append(LATE)
    elif not count:
        lines.append(LEFT_OUT)
    return "\n".join(lines)


def install() -> None:
    wrap(GrepExecutor, "__call__", _grep)
    wrap(GlobExecutor, "__call__", _glob)
