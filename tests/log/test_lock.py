"""Law 2: only the lock holder writes, any death frees the lock, and a probe disturbs nobody."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.log.errors import Busy
from rookery.log.lock import Lock, is_held
from rookery.log.store import Writer

HOLDER = """
import sys
from rookery.log.lock import Lock
lock = Lock.acquire(sys.argv[1], wait=30)
print("held", flush=True)
exec(sys.argv[2])
sys.stdin.read()
"""

WITH_A_PROGRAM = """
import subprocess
child = "import sys; print('child', flush=True); sys.stdin.read()"
subprocess.Popen([sys.executable, "-c", child], close_fds=False)
"""
WITH_A_FORK = """
import os
if os.fork() == 0:
    print("child", flush=True)
"""


@contextmanager
def holder(path: str, more: str = "") -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its input ends or it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def test_one_holder_at_a_time(path: str) -> None:
    first = Lock.acquire(path)
    with pytest.raises(Busy, match="another process is writing"):
        Lock.acquire(path, wait=0)
    first.release()
    Lock.acquire(path, wait=0).release()


def test_the_lock_holds_between_processes_and_kill_9_frees_it(path: str) -> None:
    with holder(path) as process:
        assert is_held(path)
        with pytest.raises(Busy):
            Lock.acquire(path, wait=0)
        process.kill()
        process.wait()
        assert not is_held(path)
        Lock.acquire(path, wait=0).release()


def test_acquire_waits_for_a_holder_that_lets_go(path: str) -> None:
    with holder(path) as process:
        assert process.stdin is not None
        # It ends when it pleases; the wait bounds the test.
        threading.Thread(target=process.stdin.close).start()
        Lock.acquire(path, wait=60).release()


def test_two_writers_cannot_both_open(directory: str) -> None:
    with Writer.open(directory, create=True):
        with pytest.raises(Busy):
            Writer.open(directory, wait=0)
        assert is_held(os.path.join(directory, "lock"))
    assert not is_held(os.path.join(directory, "lock"))
    Writer.open(directory, wait=0).close()


def test_a_probe_makes_no_file_and_frees_no_lock(path: str) -> None:
    assert not is_held(path)
    assert not os.path.exists(path)
    lock = Lock.acquire(path)
    assert is_held(path)
    assert is_held(path)
    lock.release()
    assert not is_held(path)
    assert os.path.exists(path), "the file of a lock is never unlinked"


def test_probes_do_not_keep_a_starter_from_the_lock(path: str) -> None:
    """A probing reader holds the lock for an instant; a starter tries again for a second."""
    Lock.acquire(path).release()
    done = threading.Event()
    seen: list[bool] = []

    def probe() -> None:
        while not done.is_set():
            seen.append(is_held(path))

    probes = [threading.Thread(target=probe) for _ in range(3)]
    for thread in probes:
        thread.start()
    try:
        for _ in range(100):
            Lock.acquire(path, wait=60).release()
    finally:
        done.set()
        for thread in probes:
            thread.join()
    assert not is_held(path)


@pytest.mark.parametrize("more", [WITH_A_PROGRAM, WITH_A_FORK], ids=["program", "fork"])
def test_a_child_that_outlives_the_holder_does_not_keep_the_lock(path: str, more: str) -> None:
    """An agent or terminal that a killed worker leaves behind."""
    with holder(path, more) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "child\n"
        assert is_held(path)
        process.kill()
        process.wait()
        held = is_held(path)
        process.stdin.close()  # ends the child,
        assert process.stdout.read() == ""  # which had its output open until then
    assert not held


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_does_not_free_the_lock(path: str) -> None:
    lock = Lock.acquire(path)
    said, say = os.pipe()
    wait, go = os.pipe()
    child = os.fork()
    if child == 0:  # no exec, so that the kernel shares the lock with it
        try:
            lock.release()
            os.write(say, b"1" if is_held(path) else b"0")
            os.close(go)
            os.read(wait, 1)
        finally:
            os._exit(0)
    os.close(say)
    try:
        assert os.read(said, 1) == b"1", "a child's release left the parent's lock"
        assert is_held(path)
        lock.release()
        assert not is_held(path)
    finally:
        os.close(go)
        os.waitpid(child, 0)
        os.close(said)
        os.close(wait)


def test_a_holder_learns_that_its_session_was_deleted(path: str) -> None:
    """The session's directory is gone, or another holds the lock."""
    lock = Lock.acquire(path)
    assert lock.stands()
    os.unlink(path)  # as deleting the session does
    assert not lock.stands()
    other = Lock.acquire(path, wait=0)
    assert other.stands()
    assert not lock.stands()
    lock.release()
    assert is_held(path)
    other.release()


def test_releasing_twice_is_releasing_once(path: str) -> None:
    lock = Lock.acquire(path)
    lock.release()
    other = Lock.acquire(path, wait=0)
    lock.release()
    assert is_held(path)
    assert not lock.stands()
    other.release()
