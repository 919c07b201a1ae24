"""Which tests a process of a parallel run takes together, in what order, and which are long.

A file's tests stay together, since they may share a fixture. So do all of tests/agent: they share
an agent that takes seconds to start, and one process of the run alone loads the SDK for them. What
takes long comes first, so that short tests fill the end.

Where every test starts processes, each of its cases costs half a second: the first two are played
in every run, the others in the long one. A file that is named is played whole.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import override

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parents[1]
TOGETHER = "tests/agent/"
STARTING = ("tests/worker/", "tests/cli/", "tests/acp/")
CASES = 2
DOORS = ("player", "bridge")
"""A case for each way in is counted for itself."""
FIRST = ("tests/agent/", "tests/e2e/", "tests/worker/", "tests/cli/", "tests/acp/", "tests/tui/")


class Sharing(LoadFileScheduling):
    """Not all processes know all tests: see `is_left_to_another`. The first one does."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else super()._split_scope(nodeid)

    @override
    def schedule(self) -> None:
        if self.collection is None:
            known = self.registered_collections
            order = sorted(known, key=lambda node: len(known[node]), reverse=True)
            self.registered_collections = {node: known[node] for node in order}
            self.assigned_work = {node: self.assigned_work[node] for node in order}
        super().schedule()

    @override
    def _check_nodes_have_same_collection(self) -> bool:
        (_, most), *others = self.registered_collections.items()
        elsewhere = [nodeid for nodeid in most if not nodeid.startswith(TOGETHER)]
        if all(found in (most, elsewhere) for _, found in others):
            return True
        return super()._check_nodes_have_same_collection()

    @override
    def _assign_work_unit(self, node: WorkerController) -> None:
        if TOGETHER in self.workqueue:
            knows = any(map(is_together, self.registered_collections[node]))
            if not knows and len(self.workqueue) == 1:
                return
            self.workqueue.move_to_end(TOGETHER, last=not knows)
        super()._assign_work_unit(node)


def is_together(nodeid: str) -> bool:
    return nodeid.startswith(TOGETHER)


def is_left_to_another(path: Path, config: pytest.Config) -> bool:
    """Whether this is a process of a whole run, but not its first: it never loads tests/agent."""
    given: dict[str, object] = getattr(config, "workerinput", {})
    others = [f"gw{number}" for number in range(1, int(str(given.get("workercount", 0))))]
    if given.get("workerid") not in others or any("agent" in each for each in config.args):
        return False
    return path.is_relative_to(ROOT / TOGETHER)


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
