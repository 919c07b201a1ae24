"""The ties between a process and its worker: who inherits orphans, what ends the process, the mark
it carries. The warden imports this: import little."""

import os
import signal
import sys

TYPE_CHECKING = False  # see paths: the warden imports this file
if TYPE_CHECKING:
    from ctypes import CDLL

LINUX = sys.platform == "linux"
MARK = "ROOKERY_MARK"  # in the environment of all that a worker starts: <session>.<nonce>
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_libc: "CDLL | None" = None


def unmarked() -> dict[str, str]:
    """Return the environment for a process that belongs to no session: nobody sweeps it."""
    return {name: value for name, value in os.environ.items() if name != MARK}


def home_tag(home: str) -> str:
    """Return a name for a home, the same however its path is spelled; "" if there is none."""
    try:
        status = os.stat(home)
    except OSError:
        return ""
    return f"{status.st_dev:x}-{status.st_ino:x}"


def become_subreaper() -> None:
    """Have orphans among the descendants become children of this process (Linux)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Have this process get the signal when its parent dies (Linux), or now if it already has."""
    _prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def libc() -> "CDLL":
    """Return the system's C library; to be called once before a fork that will need it."""
    global _libc  # noqa: PLW0603 - loaded once: between fork and exec it would cost 5 ms
    if _libc is None:
        import ctypes  # 2 ms and 0.4 MB; nothing else in the library calls prctl

        _libc = ctypes.CDLL(None, use_errno=True)
    return _libc


def _prctl(option: int, value: int) -> None:
    if not LINUX:
        return
    library = libc()
    import ctypes

    if library.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
