"""What is around everything that a worker starts: Landlock's domain, and the record that says whose
it is (`docs/security.md`)."""

import os
from collections.abc import Callable

from rookery.processes import landlock, roots
from rookery.processes.lineage import MARK

LANDLOCK = "landlock"
LINEAGE = "lineage"
"""How an agent is kept from answering for you: by the kernel too, or by its descent alone."""


class Fence:
    def __init__(self, home: str, *, confined: bool) -> None:
        self._home = home
        self._ruleset = -1
        self.confine(confined)

    def confine(self, wanted: bool) -> None:
        """Whether what is started from now on gets a domain, where the kernel has them."""
        self.confined = wanted and landlock.available()

    @property
    def guard(self) -> str:
        return LANDLOCK if self.confined else LINEAGE

    def entry(self) -> Callable[[], None] | None:
        """What a child does between fork and exec. Raises OSError: then nothing is started, since
        what is meant to be inside may not run outside."""
        if not self.confined:
            return None
        if self._ruleset < 0:
            self._ruleset = landlock.ruleset()
        made = self._ruleset
        return lambda: landlock.enter(made)

    def entered(self, pid: int, start: str | None) -> None:
        roots.record(self._home, pid, start, os.environ.get(MARK, ""))

    def left(self, pid: int, start: str | None) -> None:
        roots.forget(self._home, pid, start)

    def close(self) -> None:
        if self._ruleset >= 0:
            os.close(self._ruleset)
            self._ruleset = -1
