"""A worker outlives its starter, and nothing outlives a worker; with real processes."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import rookery
from rookery.home import paths
from rookery.processes import strays
from rookery.processes import tree as processes
from tests.worker.conftest import Roost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")

STARTER = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from rookery.client.start import start_worker
started = start_worker(sys.argv[1], sys.argv[2], argv=sys.argv[3:])
print(started.pid, flush=True)
sys.stdin.read()
"""


def gone(*ended: processes.Process) -> bool:
    return not processes.wait_gone(ended, 60)


def ping(roost: Roost) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(paths.socket_path(str(roost.directory)))
        return client.recv(1)


def test_killed_worker_takes_every_descendant_with_it(roost: Roost) -> None:
    """The stubborn one too, and the one with its own session, no parent and no environment."""
    worker, warden = roost.start("tree")
    family = roost.read_family()
    assert family.keys() == {"agent", "child", "stubborn", "escaped"}
    processes.kill([worker])
    roost.wait_tree_gone()
    assert gone(warden, *family.values())
    assert "was killed by signal 9" in roost.log()


def test_killed_warden_takes_worker_and_tree_with_it(roost: Roost) -> None:
    """The worker hears it by the end of a pipe, and ends the escaped one too."""
    worker, warden = roost.start("tree")
    family = roost.read_family()
    processes.kill([warden])
    roost.wait_tree_gone()
    assert gone(worker, *family.values())


def test_killed_warden_ends_the_worker_by_signal(roost: Roost) -> None:
    """This worker never looks at the pipe."""
    worker, warden = roost.start("echo")
    processes.kill([warden])
    assert gone(worker)


def test_escaped_orphan_falls_to_the_worker(roost: Roost) -> None:
    worker, _ = roost.start("tree")
    escaped = roost.read_family()["escaped"]
    assert escaped.pid in {row.pid for row in processes.descendants(worker.pid)}


def test_both_killed_at_once_leaves_the_marked_to_the_sweep(roost: Roost) -> None:
    """The next worker finds them by their mark, and what is below them without one."""
    worker, warden = roost.start("marked")
    family = roost.read_family()
    os.kill(worker.pid, signal.SIGSTOP)  # so that it cannot clean up
    processes.kill([warden])
    processes.kill([worker])
    assert gone(worker, warden)
    assert len(processes.still_alive(family.values())) == 3
    swept = strays.sweep(roost.home, {roost.session}).ended
    assert {each.process.pid for each in swept} == {process.pid for process in family.values()}
    roost.wait_tree_gone()


def test_sweep_spares_the_kept_nonce_and_other_sessions(roost: Roost) -> None:
    worker, _ = roost.start("marked")
    family = roost.read_family()
    environ = Path(f"/proc/{family['agent'].pid}/environ").read_text()
    nonce = environ.strip("\0").rpartition(".")[2]
    nobody = strays.Swept([], [])
    assert strays.sweep(roost.home, {roost.session}, keep_nonce=nonce) == nobody
    assert strays.of_mark(roost.home, f"{roost.session}.another") == []
    assert strays.sweep(roost.home, {roost.session[:-1]}) == nobody
    assert processes.still_alive([worker, *family.values()]) == [worker, *family.values()]


def test_term_to_the_warden_ends_the_worker_in_order(roost: Roost) -> None:
    worker, warden = roost.start("echo")
    assert ping(roost) == b"!"
    processes.terminate([warden])
    assert gone(worker, warden)
    assert roost.log() == ""


def test_worker_is_detached(roost: Roost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Session, group, cwd, files, signals and mask are its own, whatever the starter's are."""
    monkeypatch.setenv("ROOKERY_MARK", f"{roost.session}.outer")
    leaked, other = os.pipe()
    os.set_inheritable(leaked, True)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        worker, warden = roost.start("facts")
    finally:
        signal.signal(signal.SIGHUP, before)
        os.close(leaked)
        os.close(other)
    facts = json.loads((roost.directory / "facts.json").read_text())
    log = str(roost.directory / paths.WORKER_LOG)
    assert facts["cwd"] == "/"
    assert facts["umask"] == 0o077
    assert facts["session"] == warden.pid != os.getsid(0)
    assert facts["group"] == worker.pid
    assert facts["hangup"]
    assert (facts["stdin"], facts["stderr"]) == ("/dev/null", log)
    assert facts["pipes"] == 2  # to the starter and from the warden; none that was leaked
    assert facts["mark"].startswith(f"{roost.session}.")
    assert "ROOKERY_MARK" not in facts["environ"]


def test_closed_terminal_leaves_the_worker(roost: Roost) -> None:
    """The starter dies of the hang-up; the worker answers on."""
    master, slave = pty.openpty()
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, roost.home, roost.session, *roost.argv("echo")],
        stdin=slave,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with starter:
        os.close(slave)
        assert starter.stdout
        worker = roost.note(int(starter.stdout.readline()))
        os.close(master)
        assert starter.wait(30) == -signal.SIGHUP
    assert ping(roost) == b"!"
    assert processes.alive(*worker[:2])


def test_killed_starter_leaves_the_worker(roost: Roost) -> None:
    code = STARTER.replace("fcntl.ioctl(0, termios.TIOCSCTTY, 0)", "")
    starter = subprocess.Popen(
        [sys.executable, "-c", code, roost.home, roost.session, *roost.argv("echo")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with starter:
        assert starter.stdout
        roost.note(int(starter.stdout.readline()))
        starter.kill()
    assert ping(roost) == b"!"


def test_warden_is_small() -> None:
    """It imports nothing that only the worker needs; megabytes are the bench's matter."""
    source = os.path.dirname(os.path.dirname(rookery.__file__))
    code = f"import sys; sys.path.insert(0, {source!r}); import rookery.worker.process.warden; "
    run = [sys.executable, "-I", "-S", "-c", code + "print(*sys.modules)"]
    loaded = set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())
    assert "rookery.worker.process.warden" in loaded
    heavy = {"asyncio", "contextlib", "hashlib", "json", "re", "sqlite3", "subprocess", "typing"}
    assert not loaded & heavy
    ours = {name for name in loaded if name.startswith(("rookery.core", "rookery.log"))}
    assert ours == {"rookery.core", "rookery.core.refusals"}  # imports nothing itself
