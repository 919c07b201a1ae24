"""Which warm process of our own agent fits, where it listens, and how one is started: all that its
door must know, and who starts a worker.

A child inherits what was read at import, so a warm process fits only who would have imported the
same: the same build and interpreter, the same versions of the SDK and of the libraries that it asks
models with, and the same values of the variables that are read then. Proxies are read with each
connection, so a sandbox whose network is listed finds a warm process, too.
"""

import binascii
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import rookery
from rookery.build import build
from rookery.client.config import confinement
from rookery.home import paths
from rookery.processes.lineage import MARK, unmarked

PATIENCE = 5.0
"""Seconds that a door waits to be taken in; then it starts cold."""

LOADING = 90.0
"""Seconds that a door waits for one that loads."""

TAKEN = b"y"
LOADS = b"l"
NONE = b"n"
INSIDE = b"\xff" * 4
"""In place of a length: what connects is in a sandbox, and gets nothing outside of it."""
MARK_SIZE = 64
"""Bytes that follow a length: the mark of the door's session."""
DOOR = "ROOKERY_WARM_DOOR"
"""In a sandbox: the descriptor over which its worker leads to the warm process, and the build."""
STATUS = b"x"
SIGNAL = b"s"

READ_AT_IMPORT = ("LITELLM_", "LOG_", "SSL_", "REQUESTS_", "OPENHANDS_", "PYTHON", "OTEL_")
_unconfined: bool | None = None
_loaded: list[str] | None = None

READ_BY_NAME = frozenset({"HOME", "DEBUG"})
NEEDED = ("PATH", "ROOKERY_HOME", "LANG", "LC_", "LD_", "TZ", "TMPDIR", "USER", "LOGNAME")
"""How further variables begin that a warm process has. It has no others: its agents, each with an
environment of its own, could read in its memory what one user's shell or session had."""

LOADED = ("openhands_sdk-", "openhands_tools-", "litellm-", "openai-", "fastmcp-")
RECORD = ".dist-info"
"""How an installer names the folder of a package's record, its version in it."""


def items(own: str = "") -> dict[str, str]:
    """What must be equal. `own`: the build, as its worker says to a door in a sandbox, which cannot
    see the repository that it is from."""
    found = {name: value for name, value in os.environ.items() if _is_read(name)}
    package = os.path.dirname(os.path.abspath(rookery.__file__))
    # The home: its files are read, and where its path is long, homes share one directory.
    found |= {"=home": os.path.realpath(paths.home())}
    found |= {"=build": own or build(), "=python": sys.executable, "=package": package}
    found |= {"=libraries": " ".join(libraries() if _loaded is None else _loaded)}
    return found | ({"=confined": "no"} if is_unconfined() else {})


def _is_read(name: str) -> bool:
    return name in READ_BY_NAME or name.startswith(READ_AT_IMPORT)


def surroundings() -> dict[str, str]:
    """The environment of a warm process."""
    known = unmarked().items()
    return {name: value for name, value in known if _is_read(name) or name.startswith(NEEDED)}


def libraries(places: Sequence[str] = ()) -> list[str]:
    """What is installed now of that which a warm process has loaded: versions, and when each was
    installed, since one may be put in place of itself. By the names of folders: to read metadata
    costs more than the rest of the door."""
    found = []
    for place in places or sys.path:
        with suppress(OSError), os.scandir(place) as entries:
            found += [
                f"{each.name}@{each.stat().st_mtime_ns}"
                for each in entries
                if each.name.startswith(LOADED) and each.name.endswith(RECORD)
            ]
    return sorted(found)


def is_unconfined() -> bool:
    """Whether config.toml frees our own agent of its confinement."""
    return confinement.is_off(paths.home()) if _unconfined is None else _unconfined


def keep_to_this() -> None:
    """A warm process keeps to what it found: no line that comes later frees its agents, and what is
    installed now is what it has loaded."""
    global _unconfined, _loaded
    _unconfined, _loaded = is_unconfined(), libraries()


def are_replaced() -> bool:
    """Whether others were installed since."""
    return _loaded is not None and libraries() != _loaded


def socket_path(home: str, own: str = "") -> str:
    """The socket of the warm process for this key; nothing is made."""
    said = repr(sorted(items(own).items())).encode()
    return paths.named_socket(home, f"warm-{binascii.crc32(said):08x}.s")


def is_wanted(home: str) -> bool:
    """What `[agent] warm` says. A file that cannot be read is for the agent itself to complain
    about."""
    if not confinement.mentions(home, b"warm"):
        return True
    from rookery.home import config

    return config.load_or_defaults(home).warm


def argv(after: float = 0.0) -> list[str]:
    """-P: a `json.py` in the working directory must not be imported."""
    return [sys.executable, "-P", "-m", "rookery.agent.warm", *([str(after)] if after else [])]


def start(home: str, after: float = 0.0) -> None:
    """Start one, detached: it loads when this returns. It sees for itself whether another is there
    already."""
    import subprocess

    try:
        paths.ensure_home(home)
        socket = socket_path(home)
        paths.make_socket_dir(socket)
        with open(f"{socket}.log", "ab") as log:
            subprocess.run(  # it forks, and ends as soon as the fork holds the lock
                argv(after),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=surroundings(),
                check=False,
            )
    except (OSError, paths.PathError):
        return  # the next start is cold


def end(home: str) -> None:
    """End every warm process of a home; its agents live on."""
    import glob
    import signal

    folder = os.path.dirname(socket_path(home))
    for lock in glob.glob(os.path.join(glob.escape(folder), "warm-*.lock")):
        with suppress(OSError, ValueError), open(lock, encoding="ascii") as file:
            if _is_held(file.fileno()) and _is_of(pid := int(file.read()), home):
                os.kill(pid, signal.SIGTERM)


def _is_of(pid: int, home: str) -> bool:
    """Whether a process is surely of this home: those with long paths have their sockets in one
    directory."""
    from rookery.processes import ancestry

    if os.path.dirname(socket_path(home)) == os.path.join(home, "run"):
        return True
    own = ancestry.home_of(pid)
    return own is not None and os.path.realpath(own) == os.path.realpath(home)


def is_held(path: str) -> bool:
    """Whether a process keeps this socket, or loads what it will serve there."""
    try:
        with open(f"{path}.lock", encoding="ascii") as file:
            return _is_held(file.fileno())
    except OSError:
        return False


def _is_held(lock: int) -> bool:
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def ahead(home: str, listens: Callable[[str], bool]) -> None:
    """One for the next session, where none listens yet: called by who starts a worker, since what a
    worker itself starts ends with it. That a socket lies there says nothing: one that was killed
    leaves its own."""
    if MARK in os.environ:
        return  # so does what an agent starts
    try:
        there = listens(socket_path(home))
    except paths.PathError:
        return
    if not there and is_wanted(home):
        start(home)
