"""The control group of a worker and all that it starts: entered while the worker still loads, since
the kernel takes its time for it, and before anything is started."""

import os
import re
import threading
from contextlib import suppress

from rookery.home import paths
from rookery.processes import LINUX, MARK, cgroups, home_tag, roots, tree

PATIENCE = 0.05
"""Seconds that a ready worker waits for it, on a machine that is very busy."""

UNFINISHED = re.compile(r".+\.(\d+)\.[0-9a-f]+\.tmp")
"""How `paths.write_atomic` names a file until it is whole: after its writer."""

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
        _clear_unfinished(paths.session_dir(home, mark.rpartition(".")[0]))


def _clear_unfinished(directory: str) -> None:
    """Of writers that are dead; one that is alive may be about to put its file in place."""
    with suppress(OSError):
        for name in os.listdir(directory):
            found = UNFINISHED.fullmatch(name)
            if found and tree.start_time(int(found[1])) is None:
                with suppress(OSError):
                    os.unlink(os.path.join(directory, name))
