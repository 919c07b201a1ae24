"""Sessions with a stand-in for the worker, whose every process is ended with the test."""

import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.client.start import Started, start_worker
from rookery.home import paths
from rookery.processes import strays
from rookery.processes import tree as processes
from rookery.processes.tree import Process

STAND_IN = Path(__file__).with_name("stand_in.py")


class Roost:
    """One session, and two named pipes that tell when its tree is born and when it is gone."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self.session = paths.claim_session(self.home)
        self.directory = Path(paths.session_dir(self.home, self.session))
        self.started: list[Process] = []
        self.tree = self._fifo("tree")
        self.born = self._fifo("born")

    def _fifo(self, name: str) -> int:
        os.mkfifo(self.directory / name)
        return os.open(self.directory / name, os.O_RDONLY | os.O_NONBLOCK)

    @staticmethod
    def argv(mode: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(STAND_IN), mode]

    def note(self, pid: int) -> Process:
        start = processes.start_time(pid)
        assert start, f"{pid} is gone"
        self.started.append(Process(pid, start))
        return self.started[-1]

    def start(self, mode: str) -> tuple[Process, Process]:
        """The worker and its warden."""
        return self.see(start_worker(self.home, self.session, argv=self.argv(mode)))

    def see(self, started: Started) -> tuple[Process, Process]:
        warden = next(row.parent for row in processes.table() if row.pid == started.pid)
        return self.note(started.pid), self.note(warden)

    def read_family(self) -> dict[str, Process]:
        """Who was born, once all of them run their own program."""
        text = b""
        while data := self._read(self.born):
            text += data
        lines = [line.split() for line in text.decode().splitlines()]
        return {name: self.note(int(pid)) for name, pid in lines}

    def wait_tree_gone(self) -> None:
        assert self._read(self.tree) == b""

    @staticmethod
    def _read(file: int) -> bytes:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        assert poll.poll(30_000), "nothing happened within 30 s"
        return os.read(file, 4096)

    def log(self) -> str:
        return (self.directory / paths.WORKER_LOG).read_text()

    def end(self) -> None:
        processes.kill(self.started)
        strays.sweep(self.home, {self.session})
        os.close(self.tree)
        os.close(self.born)


@pytest.fixture
def roost(tmp_path: Path) -> Iterator[Roost]:
    roost = Roost(tmp_path / "home")
    yield roost
    roost.end()
