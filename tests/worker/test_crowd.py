"""I10-1: on a machine with thousands of processes, wardens still end what their workers left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rookery.processes import tree as processes
from tests.worker.conftest import Roost

CROWD = 1200
SESSIONS = 8
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
def test_I10_1_wardens_end_what_is_deaf_to_term_in_a_crowd(tmp_path: Path) -> None:
    with ExitStack() as undo:
        wardens, families, workers = [], [], []
        for number in range(SESSIONS):
            roost = Roost(tmp_path / f"home{number}")
            undo.callback(roost.end)
            worker, warden = roost.start("tree")
            workers.append(worker)
            wardens.append(warden)
            families += roost.read_family().values()
        processes.kill(workers)
        assert processes.wait_gone([*wardens, *families], 60) == []
