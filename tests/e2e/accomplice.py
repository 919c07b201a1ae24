"""Run by an agent: one way around the guard that docs/security.md tells of.

python accomplice.py WAY OUT HOME OWN OTHER [MORE…]        what came of it is in OUT
"""

import ctypes
import json
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress

from rookery.home import paths
from rookery.log.rows import INSERT
from rookery.processes import tree

WAY, OUT, HOME, OWN, OTHER, *MORE = sys.argv[1:]
PIDFD_GETFD = 438


def burgle(name: str) -> None:
    """What the burglar does, from here."""
    burglar = os.path.join(os.path.dirname(__file__), "burglar.py")
    os.execv(sys.executable, [sys.executable, "-P", burglar, OUT, HOME, OTHER, OTHER, OTHER, name])


def leave() -> None:
    """No parent, no environment; and, if it may, no control group."""
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
    argv = [sys.executable, "-P", __file__, WAY.replace("orphan", "alone"), *sys.argv[2:]]
    os.execve(sys.executable, argv, {"PATH": "/usr/bin:/bin"})


def kill_above() -> None:
    """The worker and the warden of the agent that started this."""
    found = paths.read_json(os.path.join(paths.session_dir(HOME, OWN), paths.WORKER)) or {}
    both = [
        tree.Process(found["warden"], found["wardenStart"]),
        tree.Process(found["pid"], found["start"]),
    ]
    with suppress(PermissionError):
        for process in both:
            os.kill(process.pid, signal.SIGSTOP)  # so that neither can end us
        for process in both:
            os.kill(process.pid, signal.SIGKILL)
        tree.wait_gone(both, 60.0)


def leave_group() -> None:
    for place in ("unified", "systemd", "."):
        with suppress(OSError), open(f"/sys/fs/cgroup/{place}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))


def steal(pid: int, command: str) -> str:
    """Speak over a connection of a person's client, taken out of that."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.pidfd_open(pid)
    for number in range(3, 256):
        taken = libc.syscall(PIDFD_GETFD, handle, number, 0)
        if taken < 0:
            if ctypes.get_errno() != 9:
                return os.strerror(ctypes.get_errno())
            continue
        with suppress(OSError), socket.socket(fileno=taken) as link:
            name = link.getpeername()
            if link.family == socket.AF_UNIX and shown(name).startswith(MORE[2]):
                link.sendall(command.encode() + b"\n")
                return "sent"
    return "not found"


def shown(name: str | bytes) -> str:
    return os.fsdecode(name).replace("\0", "@")


def tell(came: str) -> None:
    with open(OUT, "a", encoding="utf-8") as file:
        file.write(json.dumps({"try": WAY, "came": came}) + "\n")
        file.write(json.dumps({"try": "done", "came": ""}) + "\n")


match WAY:
    case "tmux":
        line = f"{shlex.quote(sys.executable)} -P -m rookery answer {OTHER} 1"
        subprocess.run(["tmux", "-S", MORE[0], "send-keys", line, "Enter"], check=True)
        tell("typed")
    case "log":
        update = json.dumps({"sessionUpdate": "_session", "confirm": "all"})
        with sqlite3.connect(os.path.join(paths.session_dir(HOME, OTHER), paths.LOG)) as log:
            [(seq,)] = log.execute("SELECT max(seq) FROM event").fetchall()
            row = (seq + 1, int(time.time() * 1000), "_session", 0, None, "test", update)
            log.execute(INSERT, row)
        tell("written")
    case "start file":
        with open(os.path.join(MORE[0], ".bashrc"), "a", encoding="utf-8") as file:
            file.write(f"{shlex.quote(sys.executable)} -P -m rookery answer {OTHER} 1\n")
        tell("written")
    case "orphan" | "orphan outside":
        leave()
    case "alone" | "alone outside":
        if WAY == "alone outside":
            leave_group()
        kill_above()
        burgle("control socket" if MORE else "path socket")
    case "steal":
        tell(steal(int(MORE[0]), MORE[1]))
