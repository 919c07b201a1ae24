"""Runs around an agent in a container: starts the container, runs the agent in it, and ends it with
the agent. A program of its own, so that the worker waits for none of it: standard library only.

    python -I -S keeper.py PLAN

The container waits for the end of its input, which this process holds: however this process ends,
the container ends, too. The kernel then ends everything in it."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from types import FrameType

WAITING = "trap '' TERM; echo; (read _); exit"
"""The container's main command: it prints a line once it runs, then waits for the end of its input.
Meanwhile the shell reaps orphans. It ignores TERM, which is meant for the agent: that may take its
time."""

END_TIMEOUT = 10.0
"""Seconds that the engine may take to end an empty container."""

PR_SET_PDEATHSIG = 1


def main(plan: dict[str, list[str]]) -> int:
    _die_with_parent()
    signal.signal(signal.SIGTERM, _leave)
    _call(plan["remove"])
    container = subprocess.Popen(
        plan["run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert container.stdin is not None
    assert container.stdout is not None
    assert container.stderr is not None
    tidying = threading.Thread(target=_tidy, args=(plan,), daemon=True)
    try:
        if not container.stdout.readline():  # it did not start
            sys.stderr.buffer.write(container.stderr.read())
            return container.wait()
        threading.Thread(target=container.stderr.read, daemon=True).start()
        agent = subprocess.Popen(plan["exec"])
        _let_go()
        tidying.start()  # now: at the end, somebody would wait for it
        return agent.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        container.stdin.close()
        try:
            container.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            _call(plan["remove"])
        with suppress(OSError):
            os.unlink(plan["running"][0])
        if tidying.is_alive():
            tidying.join(END_TIMEOUT)


def _tidy(plan: dict[str, list[str]]) -> None:
    """Remove what killed workers left. If the engine's own process was killed with its container,
    the engine believes that it still runs: `left` lists names with their first process."""
    _call(plan["prune"])
    for line in _call(plan["left"]).decode("utf-8", "replace").splitlines() if plan["left"] else ():
        name, _, pid = line.partition(" ")
        if pid.isdecimal() and int(pid) and not os.path.exists(f"/proc/{pid}"):
            _call([*plan["remove"][:-1], name])


def _call(command: list[str]) -> bytes:
    """Return a command's output, even if it fails: what it should remove may be gone."""
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return done.stdout


def _let_go() -> None:
    """Leave the pipes to the agent alone from here on: they end when it closes them."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    os.close(null)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _die_with_parent() -> None:
    with suppress(OSError, AttributeError):  # elsewhere the end of the pipe has to do
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
