"""A worker that hangs is said to, and what runs as another user holds nothing up."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.home import paths
from rookery.log.lock import is_held
from rookery.processes import tree
from tests.cli.driving import Running, play, rookery
from tests.worker.aviary import Bird

linux = pytest.mark.skipif(sys.platform != "linux", reason="prctl")

DEAF = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 5, 0, 0, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Without CAP_KILL root may signal only its own: what runs as another user is then out of reach."""

OTHER = (
    "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
    "os.execv('/bin/sleep', ['sleep', '1000'])"
)


HELLO = play({"text": "Good morning."})


def awake() -> str:
    """A session that is idle after a turn."""
    session = rookery("new").out.strip()
    assert rookery("prompt", "--wait", session, HELLO).code == 0
    return session


@contextmanager
def stopped(session: str, home: Path) -> Iterator[None]:
    worker = Bird(str(home), session).worker
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if tree.still_alive([worker]):
            os.kill(worker.pid, signal.SIGCONT)


@pytest.mark.parametrize(
    "words",
    [
        ["prompt", HELLO],
        pytest.param(["cancel"], marks=pytest.mark.long),
        pytest.param(["stop"], marks=pytest.mark.long),
        pytest.param(["prompt", "--wait", HELLO], marks=pytest.mark.long),
    ],
)
def test_a_hung_worker_is_reported_as_hung(home: Path, words: list[str]) -> None:
    """After the first resend, with the command that helps; what was sent is done later."""
    session = awake()
    name, *rest = words
    with stopped(session, home), Running(name, session, *rest) as it:
        told = it.read_err_until(f"rookery stop --now {session}")
        assert f"The worker of {session} does not respond" in told
        assert f"rookery stop --now {session}" in told
        os.kill(Bird(str(home), session).worker.pid, signal.SIGCONT)
        assert it.end().code == 0


@pytest.mark.long
def test_killing_a_hung_worker_lets_waiting_prompts_go_on(home: Path) -> None:
    """The prompt that waited wakes the session."""
    session = awake()
    with stopped(session, home), Running("prompt", "--wait", session, HELLO) as it:
        it.read_err_until(f"rookery stop --now {session}")
        assert rookery("kill", session).code == 0
        done = it.end()
    assert done.code == 0
    assert "Good morning." in done.out


@pytest.mark.long
@linux
def test_kill_ends_a_hung_warden_too(home: Path) -> None:
    session = awake()
    bird = Bird(str(home), session)
    warden = bird.warden
    os.kill(warden.pid, signal.SIGSTOP)
    assert rookery("kill", session).code == 0
    assert tree.wait_gone([warden, bird.agent], 60) == []


class Foreign:
    """A session whose worker may not signal what it started: a command that runs as another."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        argv = [sys.executable, "-c", DEAF, sys.executable, "-m", "rookery"]
        monkeypatch.setattr("tests.cli.driving.ROOKERY", argv)
        self.session = awake()
        self.bird = Bird(str(home), self.session)
        self.left: list[tree.Process] = []

    def command(self) -> list[str]:
        return [sys.executable, "-c", OTHER]

    def sleeper(self) -> tree.Process:
        """Once it runs as another."""
        worker = self.bird.worker
        while True:
            for row in tree.descendants(worker.pid):
                found = Path(f"/proc/{row.pid}/cmdline").read_bytes()
                if found == b"sleep\x001000\0":
                    self.left = [row]
                    return row


@pytest.fixture
def foreign(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Foreign]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root starts something as another user")
    made = Foreign(home, monkeypatch)
    yield made
    tree.kill(made.left)


@pytest.mark.long
def test_cancel_reports_processes_of_another_user_and_leaves_them(foreign: Foreign) -> None:
    """The worker goes on, and answers."""
    session = foreign.session
    with Running("prompt", "--wait", session, play({"command": foreign.command()})) as it:
        left = foreign.sleeper()
        said = rookery("cancel", session)
        assert said.err.startswith("Cancelled.\n")
        words = " ".join(said.err.split())
        assert f"Still running as another user: sleep 1000 (pid {left.pid})" in words
        it.end()
    assert tree.still_alive([left])
    assert "Good morning." in rookery("prompt", "--wait", session, HELLO).out


@pytest.mark.long
def test_stop_reports_processes_of_another_user_and_leaves_them(
    foreign: Foreign, home: Path
) -> None:
    """It is stopped when it says so: the lock is free, worker and agent are gone."""
    session, bird = foreign.session, foreign.bird
    with Running("prompt", "--wait", session, play({"command": foreign.command()})) as it:
        left = foreign.sleeper()
        worker, agent = bird.worker, bird.agent
        said = rookery("stop", session)
        assert said.err.startswith("Stopped.")
        words = " ".join(said.err.split())
        assert f"Still running as another user: sleep 1000 (pid {left.pid})" in words
        assert not is_held(paths.session_dir(str(home), session) + "/" + paths.LOCK)
        it.end()
    assert tree.wait_gone([worker, agent, bird.warden], 60) == []
    assert tree.still_alive([left])
    shown = rookery("show", "--json", session).out
    assert "Some processes could not be ended" in json.dumps(shown)
