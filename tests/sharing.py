"""Which tests a process of a parallel run takes together, in what order, and which are long.

A file's tests stay together, since they may share a fixture. So do all of tests/agent: they share
an agent that takes seconds to start. What takes long comes first, so that short tests fill the end.

Where every test starts processes, each of its cases costs half a second: the first two are played
in every run, the others in the long one. So is a test that goes straight to the player, where
there is the same through the bridge, which has the player behind it. A file that is named is played
whole.
"""

from collections import Counter
from collections.abc import Sequence
from typing import override

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = "tests/agent/"
STARTING = ("tests/worker/", "tests/cli/", "tests/acp/")
CASES = 1
DIRECT, BRIDGED = "player", "bridge"
"""In the names of cases: the way in."""
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
    started = [item for item in items if item.nodeid.startswith(STARTING)]
    named = [item.nodeid.partition("[")[::2] for item in started]
    bridged = {name for name, case in named if BRIDGED in case}
    counted: Counter[str] = Counter()
    for item, (name, case) in zip(started, named, strict=True):
        if name in bridged and DIRECT in case:
            item.add_marker(pytest.mark.long)
            continue
        counted[name] += 1
        if counted[name] > CASES:
            item.add_marker(pytest.mark.long)
