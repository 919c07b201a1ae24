"""On a machine with thousands of processes, wardens still end what their workers left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rookery.processes import tree as processes
from tests.worker.conftest import Roost

CROWD = 3000
SESSIONS = 8
WITHIN = 5.0
"""Seconds from the kill until all have ended: TERM, its grace of two, KILL."""
SPAN = 10.0
MOST = 0.05
"""Of a core, that a warden may take on average over the span."""
FORKS = """
import os, signal, sys
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        signal.pause()
print(flush=True)
signal.pause()
"""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's"),
    pytest.mark.long,
]


@pytest.fixture
def crowd() -> Iterator[None]:
    argv = [sys.executable, "-I", "-S", "-c", FORKS, str(CROWD)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.usefixtures("crowd")
def test_wardens_kill_processes_that_ignore_term_in_a_crowd(tmp_path: Path) -> None:
    with ExitStack() as undo:
        wardens, families, workers = [], [], []
        for number in range(SESSIONS):
            roost = Roost(tmp_path / f"home{number}")
            undo.callback(roost.end)
            worker, warden = roost.start("tree")
            workers.append(worker)
            wardens.append(warden)
            families += roost.read_family().values()
        spent = {warden.pid: 0.0 for warden in wardens}
        before = {pid: seconds(pid) for pid in spent}
        processes.kill(workers)
        killed = time.monotonic()
        while left := processes.still_alive([*wardens, *families]):
            assert time.monotonic() < killed + WITHIN, left
            for pid, most in list(spent.items()):
                spent[pid] = max(most, seconds(pid) - before[pid])
            processes.wait_gone(left[:1], 0.02)
        assert max(spent.values()) / SPAN < MOST, spent


def seconds(pid: int) -> float:
    """On a processor so far; 0 of one that is gone: a warden that has ended takes no more."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
