"""Commands that are forked from a process which has loaded them all.

A fresh interpreter costs a quarter of a second of processor time, and the tests run a thousand
commands. Each is still a process of its own, with its own arguments, environment, directory and
files. What depends on the interpreter's own start has to be started afresh.
"""

import atexit
import fcntl
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from contextlib import suppress
from typing import IO

from rookery.models import own_agent
from tests.rigs.hatchery import (
    BEGUN,
    OWN,
    ROOT,
    WORKER,
    Hatchery,
    adopt,
    begin_anew,
    hatchery,
    live,
)

LARGEST = 4_000_000
PIPED, GROUP, TERMINAL = "piped", "group", "terminal"
"""Where a command runs: in the session it is forked in, in a process group of its own, or in the
session of a terminal, which its stdin is."""


class Nest:
    """The process that commands are forked from, one for each process of the test run."""

    def __init__(self) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        bare = {name: value for name, value in os.environ.items() if "ROOKERY" not in name}
        with other:
            files = [other.fileno(), *_workers()]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.rigs.forked", *map(str, [*files, 0][:2])],
                pass_fds=files,
                cwd=ROOT,
                env=bare,  # it belongs to no test
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()

    def spawn(
        self,
        arguments: list[str],
        cwd: str,
        environment: dict[str, str],
        files: list[int],
        place: str,
    ) -> int:
        """Start a command with these files as its stdin, stdout and stderr. From the file that is
        returned its id can be read, and its status as soon as it has ended: a line each."""
        status, theirs = os.pipe()
        wish = json.dumps([arguments, cwd, environment, place])
        request = wish.encode("utf-8", "surrogateescape")
        socket.send_fds(self._socket, [request], [*files, theirs])
        os.close(theirs)
        return status


def _workers() -> list[int]:
    """The file of the hatchery that workers come from, where there is one."""
    found = hatchery(WORKER) if sys.platform == "linux" else None
    return [found.fileno()] if isinstance(found, Hatchery) else []


_nest: Nest | None = None


def can_run(arguments: tuple[str, ...], environment: dict[str, str]) -> bool:
    """Whether a command does not see the difference."""
    size = sum(map(len, arguments)) + sum(map(len, environment.values()))
    own = {name: value for name, value in environment.items() if name.startswith(OWN)}
    return own == BEGUN and size < 50_000


def spawn(
    arguments: tuple[str, ...], cwd: str, environment: dict[str, str], files: list[int], place: str
) -> int:
    global _nest  # noqa: PLW0603 - one for the run
    _nest = _nest or Nest()
    return _nest.spawn(list(arguments), cwd, environment, files, place)


def run(
    arguments: tuple[str, ...], text: bytes, cwd: str, environment: dict[str, str], seconds: float
) -> tuple[int, bytes, bytes]:
    """Run a command to its end: its exit code, as subprocess tells it, and what it wrote."""
    pipes = [os.pipe(), os.pipe(), os.pipe()]
    (stdin, writing), (reading, stdout), (listening, stderr) = pipes
    status = spawn(arguments, cwd, environment, [stdin, stdout, stderr], PIPED)
    for file in (stdin, stdout, stderr):
        os.close(file)
    written: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=_write, args=(writing, text), daemon=True),
        *(
            threading.Thread(target=_read, args=(file, written), daemon=True)
            for file in (reading, listening, status)
        ),
    ]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        raise subprocess.TimeoutExpired(["rookery", *arguments], seconds)
    return _code(written[status]), written[reading], written[listening]


def _code(told: bytes) -> int:
    """As subprocess tells it; of one whose end nobody could tell: killed."""
    _, _, ended = told.partition(b"\n")
    return os.waitstatus_to_exitcode(int(ended or b"9"))


class Command:
    """One that is running, as subprocess shows it."""

    def __init__(
        self,
        arguments: tuple[str, ...],
        environment: dict[str, str],
        files: list[int],
        place: str,
        streams: tuple[IO[bytes] | None, IO[bytes] | None] = (None, None),
    ) -> None:
        self.stdout, self.stderr = streams
        self.returncode: int | None = None
        status = spawn(arguments, os.getcwd(), environment, files, place)
        self._status = open(status, "rb", buffering=0)  # noqa: SIM115 - until it has ended
        self._told = b""
        while not self._told.endswith(b"\n"):
            self._told += self._status.read(1) or b"0\n"
        self.pid = int(self._told)
        assert self.pid, "the process that commands are forked from is gone"

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], seconds)[0]:
            with self._status:
                self.returncode = _code(self._told + self._status.read())
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """What is left to be read of it, once it has ended."""
        read: dict[int, bytes] = {}
        streams = [stream for stream in (self.stdout, self.stderr) if stream and not stream.closed]
        threads = [
            threading.Thread(target=_drain, args=(stream, read), daemon=True) for stream in streams
        ]
        until = None if timeout is None else time.monotonic() + timeout
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        return read.get(id(self.stdout), b""), read.get(id(self.stderr), b"")


def piped(arguments: tuple[str, ...], environment: dict[str, str]) -> Command:
    """In a process group of its own, with nothing to read."""
    (reading, stdout), (listening, stderr) = os.pipe(), os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    streams = (open(reading, "rb"), open(listening, "rb"))  # noqa: SIM115 - the command's
    try:
        return Command(arguments, environment, [null, stdout, stderr], GROUP, streams)
    finally:
        for file in (null, stdout, stderr):
            os.close(file)


def _drain(stream: IO[bytes], read: dict[int, bytes]) -> None:
    with stream:
        read[id(stream)] = stream.read()


def _write(file: int, text: bytes) -> None:
    try:
        with open(file, "wb", buffering=0) as stdin:
            while text:
                text = text[stdin.write(text) or 0 :]
    except BrokenPipeError:
        pass  # it does not read


def _read(file: int, written: dict[int, bytes]) -> None:
    with open(file, "rb") as stream:
        written[file] = stream.read()


# ---------------------------------------------------------------- in the process itself


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _load()
    hatchery = int(sys.argv[2])
    if hatchery:
        adopt(hatchery)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        while True:
            request, files, _, _ = socket.recv_fds(connection, LARGEST, 4)
            if not request:
                return
            wish = json.loads(request.decode("utf-8", "surrogateescape"))
            if wish[0][:1] in (["doctor"], ["setup"]):
                own_agent.fault()  # takes seconds: once for all of them
            if os.fork() == 0:
                connection.close()
                _keep(wish, files, hatchery)
            for file in files:
                os.close(file)


def _load() -> None:
    import rookery.cli

    for module in pkgutil.walk_packages(rookery.cli.__path__, "rookery.cli."):
        if ".commands.other." not in module.name:
            importlib.import_module(module.name)


def _keep(request: list[object], files: list[int], hatchery: int) -> None:
    """Wait for the command, and say how it ended: whoever forks it may not wait."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, status = files
    begun, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(status)
        _place(str(request.pop()), streams[0])
        os.close(theirs)
        _become(request, streams, hatchery)
    for file in (theirs, *streams):
        os.close(file)
    os.read(begun, 1)  # it has its place
    with suppress(BrokenPipeError):  # whoever asked for it may have been killed
        os.write(status, f"{child}\n".encode())
        _, ended = os.waitpid(child, 0)
        os.write(status, str(ended).encode())
    os._exit(0)


def _place(place: str, stdin: int) -> None:
    if place == GROUP:
        os.setpgid(0, 0)
    elif place == TERMINAL:
        os.setsid()
        fcntl.ioctl(stdin, termios.TIOCSCTTY, 0)


def _become(request: list[object], streams: list[int], hatchery: int) -> None:
    arguments, cwd, environment = request
    for target, file in enumerate(streams):
        os.dup2(file, target)
    for file in range(3, 64):
        if file != hatchery:
            os.closerange(file, file + 1)
    begin_anew(environment, str(cwd))  # type: ignore[arg-type]
    sys.argv = ["rookery", *arguments]  # type: ignore[misc]
    live(lambda: importlib.import_module("rookery.cli").main())


if __name__ == "__main__":
    main()
