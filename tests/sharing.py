"""Which tests a process of a parallel run takes together, in what order, and which are long.

A file's tests stay together, since they may share a fixture. So do all of tests/agent, which share
an agent that takes seconds to start, and all of tests/page, which share a browser. What takes long
comes first, so that short tests fill the end.

Where every test starts processes, each of its cases costs half a second: the first is played in
every run, the others in the long one. So is a test that goes straight to the player, where there is
the same through the bridge, which has the player behind it. Of the models' dialects each test plays
two, not all the same two. A file that is named is played whole.

`lengthy.txt` lists the tests that `make test` leaves to `make test-lengthy`; CI runs both.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import override
from zlib import crc32

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = ("tests/agent/", "tests/page/")
CASES = {
    "tests/worker/": 1,
    "tests/cli/": 1,
    "tests/acp/": 1,
    "tests/agent/dialects/": 2,
    "tests/agent/test_failures.py": 2,
    "tests/agent/test_judged_by_worker.py": 1,
    "tests/agent/test_judgement.py": 1,
    "tests/client/work_tree/test_commit.py": 1,
    "tests/client/worktrees/test_traps.py": 1,
    "tests/tui/test_answering.py": 1,
}
"""Of each test, in every run."""
LENGTHY = Path(__file__).with_name("lengthy.txt")
DIRECT, BRIDGED = "player", "bridge"
"""In the names of cases: the way in."""
FIRST = tuple(
    f"tests/{folder}/"
    for folder in [
        "agent",
        "installation",
        "page",
        "e2e",
        "daemon",
        "transport",
        "clients",
        "worker",
        "cli",
        "acp",
        "tui",
    ]
)


class Sharing(LoadFileScheduling):
    @override
    def _split_scope(self, nodeid: str) -> str:
        found = next(filter(nodeid.startswith, TOGETHER), None)
        return super()._split_scope(nodeid) if found is None else found


def rank(nodeid: str) -> int:
    """Of a test's folder, the costly ones first."""
    return next((n for n, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    return sorted(items, key=lambda item: rank(item.nodeid))


def names_a_file(config: pytest.Config) -> bool:
    return any(".py" in given for given in config.args)


def mark_lengthy(items: Sequence[pytest.Item], config: pytest.Config) -> None:
    if names_a_file(config):
        return
    listed = set(LENGTHY.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in listed:
            item.add_marker(pytest.mark.lengthy)


def mark_further_cases(items: Sequence[pytest.Item], config: pytest.Config) -> None:
    if names_a_file(config):
        return
    for folder, played in CASES.items():
        tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item.nodeid.startswith(folder):
                tests[item.nodeid.partition("[")[0]].append(item)
        for name, cases in tests.items():
            for item in _further(cases, played, 0 if played == 1 else crc32(name.encode())):
                item.add_marker(pytest.mark.long)


def _further(cases: list[pytest.Item], played: int, offset: int) -> list[pytest.Item]:
    """All but as many as are played in every run, from the offset on."""
    bridged = [item for item in cases if BRIDGED in item.nodeid.partition("[")[2]]
    direct = [item for item in cases if bridged and DIRECT in item.nodeid.partition("[")[2]]
    rest = [item for item in cases if item not in direct]
    begin = offset % len(rest)
    return direct + (rest[begin:] + rest[:begin])[played:]
