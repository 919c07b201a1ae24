"""Limits how many processes may run in a sandbox at once: by a control group, else by a limit that
counts in the sandbox's own user namespace. If neither is possible there is no limit, and it says
so."""

import os
import shutil
from collections.abc import Callable
from functools import partial

from rookery.processes import cgroups, home_tag
from rookery.sandbox.plan import Place

COUNTS = (5, 14)
"""The first Linux that counts processes per user namespace."""


class ProcessLimit:
    def __init__(self, most: int, place: Place) -> None:
        tag = home_tag(place.hidden[0]) if place.hidden else ""
        self._group = cgroups.limited(tag, place.mark, most) if tag and place.mark else ""
        self.entry: Callable[[], None] | None = None
        """Between fork and exec."""
        self.before: list[str] = []
        """Comes before the command, inside."""
        self.lacks = ""
        """Why there is no limit, as a sentence."""
        if self._group:
            self.entry = partial(cgroups.join, self._group, most)
        elif os.geteuid() and _release() >= COUNTS and (program := shutil.which("prlimit")):
            self.before = [program, f"--nproc={most}:{most}"]
        else:
            self.lacks = (
                "The number of processes in this sandbox is not limited: no control group that "
                "counts them can be made here."
            )

    def close(self) -> None:
        if self._group:
            cgroups.drop(self._group)


def _release() -> tuple[int, ...]:
    """Return the version of the kernel."""
    parts = os.uname().release.split(".")[:2]
    return tuple(int(word) for word in parts if word.isdecimal())
