"""Starts a session's worker detached and waits for its one line of output, in the same way for
every client.

The interpreter runs with -I and -S on the path of `rookery/worker/__main__.py`, not with -m: a
worker needs only the standard library and this package, so neither PYTHONPATH, a user's
site-packages, a `.pth` file nor a `json.py` in the caller's directory can break it or slow its
start. It works the same from a checkout, an editable install and a wheel."""

import errno
import json
import os
import select
import socket as sockets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import rookery
from rookery import client
from rookery.build import build
from rookery.client.leftovers import end_leftovers
from rookery.client.offline import note
from rookery.core.json import Draft, notice
from rookery.core.refusals import Kind, Refused
from rookery.core.units import duration
from rookery.home import paths, slots, worker_starts
from rookery.home.log_rotation import turn_over
from rookery.log.errors import FAULTS, LogError, disk_words, fault_of
from rookery.log.reader import Reader
from rookery.processes import roots
from rookery.processes.lineage import unmarked
from rookery.wire import frames
from rookery.wire.credentials import peer_of

TIMEOUT = 60.0  # seconds until the worker must have said that it is ready
LINE_LIMIT = 64 * 1024  # bytes of the ready line
OWN_AGENT = "rookery"
TAIL = 2_000  # bytes of worker.log in an error

MALLOC = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "4194304"}
"""For glibc, of the worker alone: its large blocks go back to the system when they are freed. Left
to itself it keeps them from the second one on, and one line of 10 MiB costs 50 for ever."""

TOO_MANY, STARTING = "too_many", "starting"
"""Reasons that pass: no more workers may be awake; too many start."""
PARKED = "parked"
"""The reason of a worker that died too often: only the user starts it again."""
_KINDS: dict[str, Kind] = {TOO_MANY: "busy", STARTING: "busy", PARKED: "conflict"}


class Started(NamedTuple):
    socket: str
    pid: int


class StartError(Refused):
    """The worker did not start.

    Our own reasons: no_session, spawn, died, timeout, garbled, starting (too many are), parked (it
    died too often). All others come from the worker; too_many: no more may be awake."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message, kind=_KINDS.get(reason, "failed"))


class Busy(StartError):
    """Another worker was first: connect to `socket`, which may take a moment to listen."""

    def __init__(self, message: str, socket: str) -> None:
        super().__init__("busy", message)
        self.socket = socket


def connectable(socket_path: str) -> bool:
    """Tell whether a process is listening there: nothing else proves that a worker is alive."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(socket_path)
        except BlockingIOError:
            return True  # a listener whose queue is full is one
        except OSError:
            return False
    return True


def listener(socket_path: str) -> int:
    """Return the pid of the user's process that is listening there; 0 if there is none or it is
    unknown."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(socket_path)
            user, pid = peer_of(probe)
        except OSError:
            return 0
    return pid if user == os.geteuid() else 0


def is_awake(socket_path: str) -> bool:
    """Tell the same for lists, which check every session, without waking the worker.

    The kernel reports a socket of another type as a mismatch if one is there, so nothing is put
    into a worker's queue. (A worker's socket that has its name always listens.)"""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_DGRAM) as probe:
        try:
            probe.connect(socket_path)
        except FileNotFoundError:
            return False
        except OSError as error:
            return error.errno == errno.EPROTOTYPE or connectable(socket_path)
    return False


def reach_worker(
    home: str, session: str, *, argv: Sequence[str] | None = None, timeout: float = TIMEOUT
) -> str:
    """Return the socket of the session's worker, starting the worker if none is alive. Blocks.

    Of two that start at once, one gets Busy; it waits here until the winner listens, and starts
    again if the winner died before that."""
    deadline = time.monotonic() + timeout
    path = paths.socket_path(paths.session_dir(home, session))
    while not connectable(path):
        try:
            left = deadline - time.monotonic()
            return start_worker(home, session, argv=argv, timeout=left).socket
        except Busy:
            if time.monotonic() > deadline:
                raise
            _knock(home, session)
            # Nothing tells when a socket begins to listen. The worker's own wait for the lock
            # (1 s) keeps this from spinning.
            time.sleep(0.01)
    return path


def _knock(home: str, session: str) -> None:
    """Tell a worker that it is needed, on its control socket, which has no file name to lose: when
    its socket's name is gone, an idle worker rarely checks for that."""
    worker = paths.read_json(os.path.join(paths.session_dir(home, session), paths.WORKER)) or {}
    if not (control := worker.get("control")):
        return

    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as door, suppress(OSError):
        door.connect(f"\0{control}")
        door.sendall(frames.hello(build(), "knock", 0))


def start_worker(
    home: str, session: str, *, argv: Sequence[str] | None = None, timeout: float = TIMEOUT
) -> Started:
    """Start a worker and wait until it is ready. Blocks: a client with an event loop calls it in a
    thread.

    Raises Busy if another one holds the session, else StartError. A worker that was not ready in
    time is left alone: it may be slow rather than stuck, and is then found by its socket."""
    directory = paths.session_dir(home, session)
    if not os.path.isdir(directory):
        raise StartError("no_session", f"There is no session {session} in {home}.")
    deadline = time.monotonic() + timeout
    _sweep(home)
    try:
        begun = worker_starts.check(home, session)
        _warm_ahead(home, directory)
        with slots.for_start(home, deadline):
            line = _start(home, session, argv or worker_argv(), deadline, timeout)
    except worker_starts.Parked as parked:
        raise _parked(home, session, parked) from None
    except slots.Full as full:
        message = f"{full.most} workers are already starting; try again in a moment."
        raise StartError(STARTING, message) from None
    except slots.Unusable as error:
        raise StartError("spawn", f"Cannot start a worker: {error}.") from error
    except StartError as error:
        if error.reason == "died":
            worker_starts.note(home, session, begun)
            _tell_death(session, directory)
        raise
    started = _understand(line, directory)
    worker_starts.note(home, session, begun)
    return started


def _parked(home: str, session: str, parked: worker_starts.Parked) -> StartError:
    """The error for a parked session. The first caller to be refused also notes it in the log."""
    from rookery.core.agent.failures import worker_parked

    directory = paths.session_dir(home, session)
    output = _end_of(os.path.join(directory, paths.WORKER_LOG), 0) or ""
    update = worker_parked(session, parked.starts, parked.window, output.splitlines())
    if parked.first:
        with suppress(LogError, OSError):  # somebody writes, or the disk is full
            note(directory, Draft(update), wait=1.0)
    return StartError(PARKED, update["remedy"])


def _tell_death(session: str, directory: str) -> None:
    """Note in the session's log why the worker died; only once for the same reason."""
    lines = (_end_of(os.path.join(directory, paths.WORKER_LOG), 0) or "").splitlines()
    output = [line.strip() for line in lines if line.strip() and " warden: " not in line]
    why = f": {output[-1][:300]}" if output else ""
    text = f"The session's worker died while it started{why}. More: rookery logs {session}"
    update = notice(text, "error")
    with suppress(LogError, OSError):  # somebody writes, or the disk is full
        with Reader.open(directory) as log:
            last = log.read(max(0, log.last_seq() - 1), 1)
        if not last or last[0].update != update:
            note(directory, Draft(update), wait=1.0)


def _sweep(home: str) -> None:
    """End what killed workers of any session left behind; their logs record it."""
    if os.path.isdir(roots.directory(home)):
        end_leftovers(home)


def _warm_ahead(home: str, directory: str) -> None:
    """Start a warm process for sessions of our own agent. The worker cannot: whatever it starts
    ends with it."""
    try:
        with Reader.open(directory) as log:
            header = log.header()
    except LogError:
        return
    if header.agent == OWN_AGENT and not header.argv:  # else it is another program
        client.warm_agent.ahead(home, connectable)


def _start(home: str, session: str, argv: Sequence[str], deadline: float, timeout: float) -> bytes:
    """Return the line that the worker printed. Raises StartError."""
    log = os.path.join(paths.session_dir(home, session), paths.WORKER_LOG)
    reading, writing = os.pipe()
    try:
        try:
            output, before = _open_log(log)
            command = [*argv, "--home", home, "--session", session]
            child = _spawn([*command, "--ready-fd", str(writing)], writing, output)
        finally:
            os.close(writing)
        line: bytes | None = None
        try:
            line = _read_line(reading, deadline)
        finally:
            if line is None:
                child.kill()  # still there only when it has not even forked
            child.wait()  # it ended when it had forked, before any line: there is a corpse only
    finally:
        os.close(reading)
    if line is None:
        late = f"The worker was not ready within {duration(timeout)}."
        raise _failed("timeout", late, log, before)
    if not line:
        raise _failed("died", "The worker died before it was ready.", log, before)
    return line


def _failed(name: str, message: str, log: str, before: int) -> StartError:
    """An error that includes what prevented the start: the disk, or what the worker wrote to its
    log."""
    place = os.path.dirname(log)
    if fault := fault_of(place):
        return StartError("disk", f"{place}: {FAULTS[fault]}.")
    return StartError(name, message + _tail(log, before))


def worker_argv() -> list[str]:
    from rookery.wire.websocket import library  # `ps` starts nothing

    package = os.path.dirname(os.path.abspath(rookery.__file__))
    # -X utf8: file names and texts mean the same under every locale.
    flags = ["-I", "-S", "-X", "utf8", *library.option(), *["-B"] * sys.dont_write_bytecode]
    return [sys.executable, *flags, os.path.join(package, "worker", "__main__.py")]


def _open_log(path: str) -> tuple[int, int]:
    """Return the open log and its length, so that the output of even an interpreter that cannot
    start is captured."""
    try:
        turn_over(path)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        message = disk_words(error, path) or f"Cannot write {path}: {error.strerror}."
        raise StartError("spawn", message) from error
    return file, os.fstat(file).st_size


def _spawn(command: list[str], ready: int, output: int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=unmarked() | MALLOC,
            pass_fds=(ready,),
            start_new_session=True,  # from the first moment, so that no Ctrl-C reaches it
        )
    except OSError as error:
        raise StartError("spawn", f"Cannot run {command[0]}: {error.strerror}.") from error
    finally:
        os.close(output)


def _read_line(file: int, deadline: float) -> bytes | None:
    """One line, or as much of it as arrived before the end (b"" for nothing at all); None on
    timeout."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    line = b""
    while not line.endswith(b"\n") and len(line) < LINE_LIMIT:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return None
        data = os.read(file, LINE_LIMIT)
        if not data:
            break
        line += data
    return line


def _understand(line: bytes, directory: str) -> Started:
    try:
        match json.loads(line):
            case {"ready": str(socket), "pid": int(pid)}:
                return Started(socket, pid)
            case {"error": "busy", **rest}:
                message = str(rest.get("message", "Another worker holds the session."))
                raise Busy(message, paths.socket_path(directory))
            case {"error": str(name), "message": str(message)}:
                raise StartError(name, message)
    except ValueError:
        pass
    raise StartError(
        "garbled", f"The worker did not report that it is ready; it said {line[:200]!r}."
    )


def _tail(path: str, before: int) -> str:
    """The end of what was added to the log since `before`, as a continuation of a message."""
    text = _end_of(path, before)
    if text is None:
        return ""
    return f" {path} says:\n{text}" if text else f" {path} is empty."


def _end_of(path: str, before: int) -> str | None:
    """The end of a file, or as much of it as follows `before`; None if it is unreadable."""
    with suppress(OSError), open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(before, size - TAIL))
        return file.read().decode(errors="replace").strip()
    return None
