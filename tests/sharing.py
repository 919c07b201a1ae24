"""Which tests a process of a parallel run takes together, in what order, and which are long.

A file's tests stay together, since they may share a fixture. So do all of tests/agent: they share
an agent that takes seconds to start. What takes long comes first, so that short tests fill the end.

Where every test starts processes, each of its cases costs half a second: the first two are played
in every run, the others in the long one. A file that is named is played whole.
"""

from collections import Counter
from collections.abc import Sequence
from typing import override

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = "tests/agent/"
STARTING = ("tests/worker/", "tests/cli/", "tests/acp/")
CASES = 2
DOORS = ("player", "bridge")
"""A case for each way in is counted for itself."""
FIRST = ("tests/agent/", "tests/e2e/", "tests/worker/", "tests/cli/", "tests/acp/", "tests/tui/")


class Sharing(LoadFileScheduling):
    @override
    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else super()._split_scope(nodeid)


def rank(nodeid: str) -> int:
    """Of a test's folder, the costly ones first."""
    return next((n for n, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    return sorted(items, key=lambda item: rank(item.nodeid))


def mark_further_cases(items: Sequence[pytest.Item], config: pytest.Config) -> None:
    if any(".py" in given for given in config.args):
        return
    counted: Counter[tuple[str, str]] = Counter()
    for item in items:
        if item.nodeid.startswith(STARTING):
            name, _, case = item.nodeid.partition("[")
            door = next((door for door in DOORS if door in case), "")
            counted[name, door] += 1
            if counted[name, door] > CASES:
                item.add_marker(pytest.mark.long)
