"""The control group of a worker and all that it starts: entered while the worker still loads, since
the kernel takes its time for it, and before anything is started."""

import os
import threading
from contextlib import suppress

from rookery.home import paths
from rookery.processes import cgroups, roots
from rookery.processes.lineage import LINUX, MARK, home_tag
from rookery.worker.process import unfinished_writes

PATIENCE = 0.05
"""Seconds that a ready worker waits for it, on a machine that is very busy."""

_entering: threading.Thread | None = None


def begin(home: str) -> None:
    global _entering  # noqa: PLW0603 - one process enters one group
    if LINUX:
        _entering = threading.Thread(target=_enter, args=(home,), name="group", daemon=True)
        _entering.start()


def wait() -> None:
    """Until it is entered, or may not be."""
    if _entering is not None:
        _entering.join(PATIENCE)


def _enter(home: str) -> None:
    """And take away what dead workers left."""
    tag, mark = home_tag(home), os.environ.get(MARK, "")
    if tag and mark:
        cgroups.enter(tag, mark)
        cgroups.sweep(tag)
    roots.clean(home)
    with suppress(paths.PathError):
        unfinished_writes.clear(paths.session_dir(home, mark.rpartition(".")[0]))
