"""The control group of a worker and everything it starts. It is entered while the worker still
loads, since the kernel takes its time for it, and before anything is started."""

import os
import re
import threading
from contextlib import suppress

from rookery.home import paths
from rookery.processes import LINUX, MARK, cgroups, home_tag, roots, tree

ENTER_TIMEOUT = 0.05
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
    """Wait until the group is entered, or cannot be."""
    if _entering is not None:
        _entering.join(ENTER_TIMEOUT)


def _enter(home: str) -> None:
    """Enter the group, and remove those that dead workers left."""
    tag, mark = home_tag(home), os.environ.get(MARK, "")
    if tag and mark:
        cgroups.enter(tag, mark)
        cgroups.sweep(tag)
    roots.clean(home)
    with suppress(paths.PathError):
        _clear_unfinished(paths.session_dir(home, mark.rpartition(".")[0]))


def _clear_unfinished(directory: str) -> None:
    """Delete the unfinished files of dead writers; a live one may be about to put its file in
    place."""
    with suppress(OSError):
        for name in os.listdir(directory):
            match = UNFINISHED.fullmatch(name)
            if match and tree.start_time(int(match[1])) is None:
                with suppress(OSError):
                    os.unlink(os.path.join(directory, name))
