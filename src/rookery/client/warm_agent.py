"""Warm processes of our own agent: which one fits, where it listens, and how one is started. Used
by `rookery agent` (`agent/door.py`) and by whoever starts a worker.

A child inherits what was read at import, so a warm process fits only those that would have imported
the same: the same build and interpreter, the same versions of the SDK and of the model libraries,
and the same values of the variables that are read at import. Proxies are read for each connection,
so a sandbox with an allow-list for its network finds a warm process, too."""

import binascii
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import rookery
from rookery.build import build
from rookery.client.config import confinement
from rookery.home import paths
from rookery.processes import ancestry
from rookery.processes.lineage import MARK, unmarked

HANDOVER_TIMEOUT = 5.0
"""Seconds that `rookery agent` waits for a warm process to take over; then it starts cold."""

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
    """Return what must be equal for a warm process to fit. `own`: the build, as the worker tells an
    agent in a sandbox, which cannot see the repository that it comes from."""
    key = {name: value for name, value in os.environ.items() if _is_read(name)}
    package = os.path.dirname(os.path.abspath(rookery.__file__))
    # The home: its files are read, and where its path is long, homes share one directory.
    key |= {"=home": os.path.realpath(paths.home())}
    key |= {"=build": own or build(), "=python": sys.executable, "=package": package}
    key |= {"=libraries": " ".join(libraries() if _loaded is None else _loaded)}
    return key | ({"=confined": "no"} if is_unconfined() else {})


def _is_read(name: str) -> bool:
    return name in READ_BY_NAME or name.startswith(READ_AT_IMPORT)


def surroundings() -> dict[str, str]:
    """Return the environment of a warm process."""
    known = unmarked().items()
    return {name: value for name, value in known if _is_read(name) or name.startswith(NEEDED)}


def libraries(places: Sequence[str] = ()) -> list[str]:
    """Return the installed versions of the libraries that a warm process has loaded, each with its
    time of installation, since one may be replaced by the same version. Taken from the names of
    folders: reading metadata would cost more than the rest of the start."""
    installed = []
    for place in places or sys.path:
        with suppress(OSError), os.scandir(place) as entries:
            installed += [
                f"{each.name}@{each.stat().st_mtime_ns}"
                for each in entries
                if each.name.startswith(LOADED) and each.name.endswith(RECORD)
            ]
    return sorted(installed)


def is_unconfined() -> bool:
    """Tell whether config.toml exempts our own agent from confinement."""
    return confinement.is_off(paths.home()) if _unconfined is None else _unconfined


def keep_to_this() -> None:
    """Freeze what this warm process was started with: a later change of config.toml does not
    unconfine its agents, and the libraries installed now are those it has loaded."""
    global _unconfined, _loaded
    _unconfined, _loaded = is_unconfined(), libraries()


def are_replaced() -> bool:
    """Tell whether other libraries have been installed since."""
    return _loaded is not None and libraries() != _loaded


def socket_path(home: str, own: str = "") -> str:
    """Return the socket of the warm process for these items; nothing is created."""
    key = repr(sorted(items(own).items())).encode()
    return paths.named_socket(home, f"warm-{binascii.crc32(key):08x}.s")


def is_wanted(home: str) -> bool:
    """Tell whether `[agent] warm` enables warm processes. True if the file is unreadable: the agent
    itself reports that."""
    if not confinement.mentions(home, b"warm"):
        return True
    from rookery.home import config

    return config.load_or_defaults(home).warm


def argv(after: float = 0.0) -> list[str]:
    """Return the command line. -P: a `json.py` in the working directory must not be imported."""
    return [sys.executable, "-P", "-m", "rookery.agent.warm", *([str(after)] if after else [])]


def start(home: str, after: float = 0.0) -> None:
    """Start a warm process, detached: it is still loading when this returns. It checks by itself
    whether there is another already."""
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

    folder = os.path.dirname(socket_path(home))
    for lock in glob.glob(os.path.join(glob.escape(folder), "warm-*.lock")):
        with suppress(OSError, ValueError), open(lock, encoding="ascii") as file:
            if _is_held(file.fileno()) and _is_of(pid := int(file.read()), home):
                os.kill(pid, signal.SIGTERM)


def _is_of(pid: int, home: str) -> bool:
    """Whether a process certainly belongs to this home: homes with long paths share a directory for
    their sockets."""
    if os.path.dirname(socket_path(home)) == os.path.join(home, "run"):
        return True
    own = ancestry.home_of(pid)
    return own is not None and os.path.realpath(own) == os.path.realpath(home)


def is_held(path: str) -> bool:
    """Tell whether a process serves this socket, or is loading what it will serve there."""
    try:
        with open(f"{path}.lock", encoding="ascii") as file:
            return _is_held(file.fileno())
    except OSError:
        return False


def _is_held(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def ahead(home: str, listens: Callable[[str], bool]) -> None:
    """Start a warm process for the next session, unless one is listening. Called by whoever starts
    a worker, since what a worker itself starts ends with it. That a socket file exists proves
    nothing: a killed process leaves its own."""
    if MARK in os.environ:
        return  # so does what an agent starts
    try:
        there = listens(socket_path(home))
    except paths.PathError:
        return
    if not there and is_wanted(home):
        start(home)
