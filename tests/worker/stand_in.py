"""A stand-in for the worker's host, to try its warden: what it does is its first argument."""

import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from rookery.home import paths
from rookery.processes import lineage
from rookery.worker.process import warden

MODE, *ARGV = sys.argv[1:]


def answer(file: int, **fields: object) -> None:
    os.write(file, json.dumps(fields).encode() + b"\n")
    os.close(file)


class Family:
    """The agent and what it starts. Each holds `tree` open until it ends, `born` until it execs."""

    def __init__(self, directory: str) -> None:
        self.tree = os.open(os.path.join(directory, "tree"), os.O_WRONLY)
        self.born = os.open(os.path.join(directory, "born"), os.O_WRONLY)
        self.marked = {lineage.MARK: os.environ[lineage.MARK]}
        os.set_inheritable(self.tree, True)

    def become(self, name: str, environment: Mapping[str, str], *, stubborn: bool = False) -> None:
        if stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(self.born, f"{name} {os.getpid()}\n".encode())
        os.execve("/bin/sleep", ["sleep", "600"], environment)

    def start(self, *, escape: bool) -> None:
        """An agent with a child; a stubborn one; and one that does all it can to get away."""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                self.become("child", {})
            if os.fork() == 0:
                self.become("stubborn", self.marked, stubborn=True)
            if escape and (middle := os.fork()) == 0:
                os.setsid()
                if os.fork() == 0:
                    os.setsid()
                    self.become("escaped", {})
                os._exit(0)
            if escape:
                os.waitpid(middle, 0)
            self.become("agent", self.marked)
        os.close(self.tree)
        os.close(self.born)


def facts() -> dict[str, object]:
    mask = os.umask(0)
    os.umask(mask)
    files = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return {
        "cwd": os.getcwd(),
        "umask": mask,
        "session": os.getsid(0),
        "group": os.getpgrp(),
        "pid": os.getpid(),
        "parent": os.getppid(),
        "stdin": os.readlink("/proc/self/fd/0"),
        "stderr": os.readlink("/proc/self/fd/2"),
        "pipes": sum(os.path.exists(file) and Path(file).is_fifo() for file in files),
        "hangup": signal.getsignal(signal.SIGHUP) == signal.SIG_DFL,
        "mark": os.environ[lineage.MARK],
        "environ": Path("/proc/self/environ").read_text(),
    }


def echo(path: str, ready: int, **more: object) -> int:
    """Answer each client with a byte until the warden is gone."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    paths.make_socket_dir(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        answer(ready, ready=path, pid=os.getpid(), **more)
        while True:
            client, _ = listener.accept()
            with client, suppress(BrokenPipeError):  # a probe asks for no answer
                client.sendall(b"!")


def host(home: str, session: str, ready: int) -> int:
    directory = paths.session_dir(home, session)
    path = paths.socket_path(directory)
    match MODE:
        case "tree" | "marked":
            Family(directory).start(escape=MODE == "tree")
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the end of the pipe alone must do
            answer(ready, ready=path, pid=os.getpid())
            os.read(warden.gone_fd(), 1)
            return 0
        case "echo":
            return echo(path, ready)
        case "facts":
            Path(directory, "facts.json").write_text(json.dumps(facts()))
            return echo(path, ready)
        case "lock":
            lock = os.open(os.path.join(directory, paths.LOCK), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                answer(ready, error="busy", message="Another one was first.")
                return 0
            return echo(path, ready)
        case "crash":
            raise RuntimeError("the stand-in fell over")
        case "status":
            return 3
        case "refuse":
            answer(ready, error="too_new", message="The log is newer than this build.")
            return 1
        case "garble":
            os.write(ready, b"hello\n")
            return 0
        case "silent":
            os.read(warden.gone_fd(), 1)
            return 0
    raise ValueError(MODE)


if __name__ == "__main__":
    sys.exit(warden.main(ARGV, host))
