"""Process facts and endings, on real processes."""

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from rookery.processes import tree as processes
from rookery.processes.tree import Process

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# Each prints its pid, so that what is read is there.
NEST = "echo $$; sh -c 'echo $$; exec sleep 600' & wait"
ORPHAN = """
import os
from rookery.processes.lineage import become_subreaper
from rookery.processes.tree import Adopted
become_subreaper()
adopted = Adopted()
ours = os.fork()
if ours == 0:
    os._exit(0)
reading, writing = os.pipe()
middle = os.fork()
if middle == 0:
    orphan = os.fork()
    if orphan == 0:
        os._exit(0)
    os.write(writing, str(orphan).encode())
    os._exit(0)
os.waitpid(middle, 0)
orphan = int(os.read(reading, 99))
os.waitid(os.P_PID, orphan, os.WEXITED | os.WNOWAIT)
os.waitid(os.P_PID, ours, os.WEXITED | os.WNOWAIT)
print(adopted.reap(), end=" ")
os.waitpid(ours, 0)
print(adopted.reap(), adopted.reap())
"""
MORTAL = """
import functools, os, subprocess, sys
from rookery.processes.lineage import die_with_parent
bound = functools.partial(die_with_parent, os.getpid())
child = subprocess.Popen(["sleep", "600"], preexec_fn=bound)
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def nest() -> Iterator["subprocess.Popen[bytes]"]:
    """A shell in a group of its own with a child."""
    shell = subprocess.Popen(["sh", "-c", NEST], stdout=subprocess.PIPE, start_new_session=True)
    with shell:
        yield shell
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)


def pids(shell: "subprocess.Popen[bytes]", count: int = 2) -> list[int]:
    assert shell.stdout
    return [int(shell.stdout.readline()) for _ in range(count)]


def seen(pid: int) -> Process:
    return next(row for row in processes.table() if row.pid == pid)


def test_pid_counts_with_its_start_only(nest: "subprocess.Popen[bytes]") -> None:
    """A pid in worker.json that is another's by now is nobody."""
    pid, _ = pids(nest)
    start = processes.start_time(pid)
    assert start
    assert processes.alive(pid, start)
    assert not processes.alive(pid, "1@0")
    stranger = Process(pid, "1@0")
    assert processes.kill([stranger]) == []
    assert processes.wait_gone([stranger], 60) == []
    assert processes.alive(pid, start)


def test_dead_and_unreaped_is_not_alive() -> None:
    child = subprocess.Popen(["sleep", "600"])
    found = seen(child.pid)
    child.kill()
    assert processes.wait_gone([found], 60) == []
    assert processes.start_time(child.pid) is None
    assert child.pid not in {row.pid for row in processes.table()}
    child.wait()


def test_start_time_of_nobody() -> None:
    assert processes.start_time(2**22 + 1) is None


def test_descendants_and_group(nest: "subprocess.Popen[bytes]") -> None:
    outer, inner = pids(nest)
    assert [row.pid for row in processes.descendants(outer)] == [inner]
    assert outer in {row.pid for row in processes.descendants(os.getpid())}
    assert {row.pid for row in processes.table() if row.group == outer} == {outer, inner}
    assert os.getpid() in processes.ancestors(inner, processes.table())


def test_end_tree(nest: "subprocess.Popen[bytes]") -> None:
    outer, inner = pids(nest)
    tree = [seen(outer), seen(inner)]
    assert processes.end_tree(tree[:1]) == []
    assert processes.still_alive(tree) == []


def test_end_tree_of_one_that_ignores_term() -> None:
    """After the grace, KILL."""
    with subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo $$; exec sleep 600"], stdout=subprocess.PIPE
    ) as stubborn:
        pids(stubborn, 1)
        assert processes.end_tree([seen(stubborn.pid)], grace=0.0) == []
        assert stubborn.wait(30) == -signal.SIGKILL


def test_end_group(nest: "subprocess.Popen[bytes]") -> None:
    tree = [seen(pid) for pid in pids(nest)]
    processes.end_group(nest.pid)
    assert processes.wait_gone(tree, 60) == []
    processes.end_group(nest.pid)  # gone already
    for group in (os.getpgrp(), 0, 1, -1):
        processes.end_group(group, signal.SIGKILL)  # never us


@linux
def test_sweep_spares_itself_and_its_ancestors() -> None:
    """A client that stands in an agent's terminal carries the mark of that agent's worker."""
    code = "from rookery.processes.strays import sweep; print(len(sweep('/none', {'nest'}).ended))"
    inner = f'{shlex.quote(sys.executable)} -c "{code}"; echo lives'
    environment = {**os.environ, "ROOKERY_MARK": "nest.old"}
    done = subprocess.run(["sh", "-c", inner], env=environment, capture_output=True, check=True)
    assert done.stdout == b"0\nlives\n"


@linux
def test_private_memory() -> None:
    memory = processes.private_memory(os.getpid())
    assert memory
    assert memory > 1024 * 1024
    assert processes.private_memory(2**22 + 1) is None


@linux
def test_adopted_orphan_is_reaped_and_a_child_of_ours_is_not() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, check=True)
    assert done.stdout.split() == [b"0", b"1", b"0"]


@linux
def test_agent_dies_with_its_worker() -> None:
    """Where nobody is left to end it."""
    with subprocess.Popen([sys.executable, "-c", MORTAL], stdout=subprocess.PIPE) as parent:
        (child,) = pids(parent, 1)
        handle = os.pidfd_open(child)
        parent.kill()
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(30_000)
        os.close(handle)


def test_ps_tells_the_same(nest: "subprocess.Popen[bytes]") -> None:
    """macOS has no /proc; Linux's ps speaks both, so that the reading is tried here too."""
    outer, inner = pids(nest)
    rows = {row.pid: row for row in processes._read_ps("-A")}
    assert (rows[inner].parent, rows[inner].group) == (outer, outer)
    assert not rows[inner].dead
    assert next(processes._read_ps("-p", str(inner))).start == rows[inner].start
    assert list(processes._read_ps("-p", str(2**22 + 1))) == []


def test_ps_shows_marks() -> None:
    environment = {**os.environ, "ROOKERY_MARK": "s1.n1"}
    with subprocess.Popen(
        ["sh", "-c", "echo $$; exec sleep 600"], env=environment, stdout=subprocess.PIPE
    ) as child:
        pids(child, 1)
        assert (child.pid, "s1.n1") in set(processes._read_ps_marks())
        child.kill()
