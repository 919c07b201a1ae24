"""Workers, daemons, bridges and agents of ours, forked from a process which has loaded them.

To load a worker takes 0.4 s of processor time, a daemon 1.7 s, our own agent 11 s, and a run of the
tests starts a thousand of them. `install` puts a hatchery in the place of `subprocess` where this
process starts workers and daemons; `stdio.py` is for what speaks ACP on its stdio, `nested.py`
for the players of workers. What is forked has the arguments, environment, directory and files it
was given, and /proc tells of it what it would tell of a fresh process. The workers that it starts
are forked as well. What differs in any other way is started afresh.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
OWN = ("PYTHON", "LANG", "LC_")
"""What the interpreter itself reads when it starts."""
BEGUN = {name: value for name, value in os.environ.items() if name.startswith(OWN)}
LARGEST = 4_000_000
WORKER, DAEMON, DOOR, AGENT = "worker", "daemon", "door", "agent"
LOADED = {
    WORKER: (
        *("rookery.worker.boot", "rookery.core.policy.rule_choices", "tomllib"),
        *("rookery.core.blocks.ask_details", "rookery.cli", "tests.rigs.nested"),
    ),
    DAEMON: (
        *("rookery.daemon.process.serving", "rookery.render.markdown", "rookery.export.markdown"),
        *("pygments.lexers.python", "encodings.idna", "anyio.streams.tls", "tomllib"),
    ),
    DOOR: ("rookery.cli", "rookery.acp", "rookery.client", "rookery.models", "tests.rigs.rigged"),
    AGENT: ("rookery.agent.process.sdk_import",),
}
"""With what is imported when it is first needed."""
WAITED_FOR = (DOOR, AGENT)
"""Kinds whose end is told."""
WITHOUT_TLS = (WORKER, DOOR)
ROOM_OF_WORDS, ROOM = 4_096, 32_768
"""Bytes for the arguments and the environment that /proc shows."""
STATUS, WORKERS = 511, 510
"""The numbers of the files that are told how it ended, and asked for the workers that it starts."""
HIGH = 512
"""No file that is handed over has such a number."""


def place() -> list[object]:
    """What is handed down: namespaces (a thread may have moved), limits and the umask."""
    spaces = "/proc/thread-self/ns"
    status = Path("/proc/thread-self/status").read_text()
    limits = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS)
    return [
        *(os.readlink(os.path.join(spaces, name)) for name in sorted(os.listdir(spaces))),
        *map(resource.getrlimit, limits),
        status.partition("Umask:")[2].split()[0],
    ]


class Hatchery:
    """One for each kind and each process of the test run."""

    def __init__(self, kind: str, environment: Mapping[str, str] | None = None) -> None:
        from rookery.client import start

        self.place = place()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        flags = start.worker_argv()[1:-1] if kind == WORKER else ["-P"]
        more = start.MALLOC if kind == WORKER else {}
        bare = {name: value for name, value in os.environ.items() if "ROOKERY" not in name}
        begun = dict(environment or bare)  # else it belongs to no test
        with other:
            words = [sys.executable, *flags, __file__, kind, str(other.fileno())]
            self._process = subprocess.Popen(
                [*words, "-" * ROOM_OF_WORDS],
                pass_fds=(other.fileno(),),
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env=begun | more | {"ROOM": "-" * ROOM},
            )
        atexit.register(self.end)

    def end(self) -> None:
        atexit.unregister(self.end)
        self._socket.close()
        self._process.wait()

    def fileno(self) -> int:
        return self._socket.fileno()

    def spawn(
        self, argv: list[str], cwd: str, environment: dict[str, str], files: dict[int, int]
    ) -> int:
        return _spawn(self._socket, argv, cwd, environment, files)


class Adopted:
    """The hatchery of the process that this one was started by."""

    def __init__(self, file: int) -> None:
        self.place = place()
        self._socket = socket.socket(fileno=file)

    def spawn(
        self, argv: list[str], cwd: str, environment: dict[str, str], files: dict[int, int]
    ) -> int:
        return _spawn(self._socket, argv, cwd, environment, files)


def _spawn(
    to: socket.socket, argv: list[str], cwd: str, environment: dict[str, str], files: dict[int, int]
) -> int:
    reading, writing = os.pipe()
    with open(reading, "rb") as answer:
        request = json.dumps([argv, cwd, environment, list(files)])
        whole = request.encode("utf-8", "surrogateescape")
        socket.send_fds(to, [whole], [*files.values(), writing])
        os.close(writing)
        return int(answer.read())


class Hatched:
    """What was forked, as subprocess shows a child. It is nobody's to wait for."""

    def __init__(self, pid: int, stdout: IO[bytes] | None) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        with suppress(ProcessLookupError):
            file = os.pidfd_open(self.pid)
            select.select([file], [], [])
            os.close(file)
        self.returncode = 0
        return 0


class Starting:
    """`subprocess`, for a module that starts workers or daemons."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, argv: list[str], **given: Any) -> Any:
        if not _fits(self._kind, argv, given):
            return subprocess.Popen(argv, **given)
        stdout, theirs = given["stdout"], None
        if stdout == subprocess.PIPE:
            theirs, stdout = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        files = {0: null, 1: stdout, 2: given["stderr"], **{n: n for n in given["pass_fds"]}}
        files |= workers() if self._kind == DAEMON else {}
        try:
            pid = hatchery(self._kind).spawn(argv, given["cwd"], given["env"], files)
        finally:
            os.close(null)
            if theirs is not None:
                os.close(stdout)
        return Hatched(pid, None if theirs is None else open(theirs, "rb", buffering=0))


def _fits(kind: str, argv: list[str], given: dict[str, Any]) -> bool:
    """Whether it would not see the difference."""
    from rookery.client import start

    plain = start.worker_argv() if kind == WORKER else [sys.executable, "-P", "-m"]
    own = {name: value for name, value in given["env"].items() if name.startswith(OWN)}
    return (
        argv[: len(plain)] == plain
        and own == BEGUN
        and fits_proc(argv, given["env"])
        and max(given["pass_fds"]) < WORKERS
        and hatchery(kind).place == place()
    )


def _pairs(environment: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


def _listed(words: list[str]) -> bytes:
    return b"".join(os.fsencode(word) + b"\0" for word in words)


_hatcheries: dict[str, Hatchery | Adopted] = {}


def hatchery(kind: str) -> Hatchery | Adopted:
    if kind not in _hatcheries:
        _hatcheries[kind] = Hatchery(kind)
    return _hatcheries[kind]


def workers() -> dict[int, int]:
    """For what is forked: where the workers that it starts come from."""
    found = hatchery(WORKER)
    return {WORKERS: found.fileno()} if isinstance(found, Hatchery) else {}


def adopt(file: int) -> None:
    """Workers that this process starts come from there; daemons are started afresh."""
    from rookery.client import start

    _hatcheries[WORKER] = Adopted(file)
    start.subprocess = Starting(WORKER)  # type: ignore[attr-defined, assignment]


def install() -> None:
    from rookery.client import start
    from rookery.daemon.process import lifecycle

    if sys.platform == "linux":
        start.subprocess = Starting(WORKER)  # type: ignore[attr-defined, assignment]
        lifecycle.subprocess = Starting(DAEMON)  # type: ignore[attr-defined, assignment]


# ---------------------------------------------------------------- in the process itself


def main(kind: str, file: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is forked here
    sys.path[:] = [str(ROOT / "src"), *(path for path in sys.path if "rigs" not in path)]
    gc.disable()
    if kind in WITHOUT_TLS:
        importlib.import_module("rookery.processes.without_tls").load_asyncio()
    _load(kind)
    gc.freeze()
    with socket.socket(fileno=file) as connection:
        while True:
            request, files, _, _ = socket.recv_fds(connection, LARGEST, 8)
            if not request:
                return
            *given, answer = files
            wish = json.loads(request.decode("utf-8", "surrogateescape"))
            if kind not in WAITED_FOR:
                _tell(answer, _fork(wish, given))
            elif os.fork() == 0:
                connection.close()
                _keep(wish, given, answer)
            for each in files:
                os.close(each)


def _load(kind: str) -> None:
    with _importable(ROOT):
        for name in LOADED[kind]:
            module = importlib.import_module(name)
            if kind == DOOR and hasattr(module, "__path__") and name != "rookery.cli":
                for each in pkgutil.walk_packages(module.__path__, f"{name}."):
                    if not each.name.endswith("__main__"):
                        importlib.import_module(each.name)
    if kind == AGENT:
        module.load()
        module.load_rest()
        assert len(os.listdir("/proc/self/task")) == 1  # a fork has no other thread


@contextmanager
def _importable(place: Path) -> Iterator[None]:
    """For the rigs alone: what is forked finds them loaded."""
    sys.path.append(str(place))
    yield
    sys.path.remove(str(place))


def _fork(wish: list[Any], files: list[int]) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        _become(wish, files)
    return child


def _tell(answer: int, child: int) -> None:
    """Whoever asked may have been killed meanwhile."""
    with suppress(BrokenPipeError):
        os.write(answer, str(child).encode())


def _keep(wish: list[Any], files: list[int], answer: int) -> None:
    """Wait for it, and say how it ended: whoever forks it may not wait."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, status = files
    *targets, _ = wish[3]
    child = _fork([*wish[:3], targets], streams)
    _tell(answer, child)
    for file in (*streams, answer):
        os.close(file)
    _, ended = os.waitpid(child, 0)
    os.write(status, str(ended).encode())
    os._exit(0)


def _become(request: list[Any], files: list[int]) -> None:
    argv, cwd, environment, targets = request
    high = [fcntl.fcntl(file, fcntl.F_DUPFD, HIGH) for file in files]
    os.closerange(0, HIGH)
    for file, target in zip(high, targets, strict=True):
        os.dup2(file, target)
    os.closerange(HIGH, max(high) + 1)
    begin_anew(environment, cwd)
    if WORKERS in targets:
        os.set_inheritable(WORKERS, False)
        adopt(WORKERS)
    play(argv, environment)


def play(argv: list[str], environment: dict[str, str]) -> None:
    """Be what these arguments start, to its end."""
    _show(argv, environment)
    gc.enable()
    if "-m" in argv[:3]:
        sys.argv = argv[argv.index("-m") + 1 :]
        live(lambda: runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True))
    else:
        script = next(n for n, word in enumerate(argv) if word.endswith(".py"))
        sys.argv = argv[script:]
        live(lambda: runpy.run_path(sys.argv[0], run_name="__main__"))


def begin_anew(environment: dict[str, str], cwd: str) -> None:
    """As an interpreter begins."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(cwd)
    sys.stdin = open(0, encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def fits_proc(argv: list[str], environment: dict[str, str]) -> bool:
    """Whether there is room in /proc to show them."""
    return len(_listed(argv)) < ROOM_OF_WORDS and len(_listed(_pairs(environment))) < ROOM


def _show(argv: list[str], environment: dict[str, str]) -> None:
    """In /proc, in the room that the long arguments and variables left for it."""
    place = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    words, words_end, pairs, pairs_end = map(int, place[45:49])
    for begin, end, text in (
        (words, words_end, _listed(argv)),
        (pairs, pairs_end, _listed(_pairs(environment))),
    ):
        ctypes.memmove(begin, text.ljust(end - begin, b"\0"), end - begin)


def live(call: Any) -> None:
    """Run it, and end as an interpreter does."""
    code = 1
    try:
        call()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        try:
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
