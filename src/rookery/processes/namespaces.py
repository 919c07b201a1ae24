"""Placing a process of ours into an existing sandbox: it joins the namespaces of a process inside,
then gives up every privilege that this brought.

Its program must not be a file that the sandbox could write through `/proc/PID/exe`, whose mount is
not the sandbox's own: so it is a sealed copy in memory."""

import ctypes
import fcntl
import os
import resource
import sys
from collections.abc import Mapping

from rookery.processes.lineage import LINUX, libc

MOUNT, CGROUP, UTS = 0x00020000, 0x02000000, 0x04000000
IPC, USER, PID, NETWORK = 0x08000000, 0x10000000, 0x20000000, 0x40000000
ALL = MOUNT | CGROUP | UTS | IPC | USER | PID | NETWORK
KINDS = ("mnt", "pid", "user")
"""Those that every sandbox of ours has of its own."""
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
CLEAR_ALL = 4
VERSION_3 = 0x20080522
MOST_CAPABILITIES = 64
LIMITS = tuple(
    getattr(resource, name) for name in sorted(dir(resource)) if name.startswith("RLIMIT_")
)


def pid_of(pidfd: int) -> int:
    """Return the pid of a process in our own namespace; -1 if it has ended. Raises OSError."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        rows = (line.split() for line in file)
        return next((int(row[1]) for row in rows if row[0] == "Pid:"), -1)


def is_apart(pid: int) -> bool:
    """Tell whether a process is in a sandbox: its namespaces are not ours. Raises OSError."""
    links = [[os.readlink(f"/proc/{who}/ns/{kind}") for kind in KINDS] for who in (pid, "self")]
    return all(theirs != ours for theirs, ours in zip(*links, strict=True))


def take_limits(pid: int) -> None:
    """Take over the resource limits of a process. Raises OSError, ValueError."""
    for number in LIMITS:
        resource.setrlimit(number, resource.prlimit(pid, number))


def enter(pidfd: int) -> None:
    """Join all namespaces of a process; the pid namespace takes effect for children only. This
    process must have one thread. Raises OSError."""
    if libc().setns(pidfd, ALL):
        raise OSError(ctypes.get_errno(), "cannot enter the sandbox")


def give_up_privileges() -> None:
    """Drop all capabilities for good: none is left, and none can be gained. Raises OSError."""
    call = libc()
    if call.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    for number in range(MOST_CAPABILITIES):
        if call.prctl(PR_CAPBSET_DROP, number, 0, 0, 0):
            break  # the kernel knows no more
    call.prctl(PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    if call.capset(head, none):
        raise OSError(ctypes.get_errno(), "capset")


def run_from_memory(argv: list[str], environment: Mapping[str, str]) -> None:
    """Execute this Python again, from a sealed copy in memory. Returns if that fails."""
    if not LINUX or is_from_memory():
        return
    try:
        with open(sys.executable, "rb") as program:
            copy = os.memfd_create("python", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            size = os.fstat(program.fileno()).st_size
            while size > 0:
                size -= os.sendfile(copy, program.fileno(), None, size)
        seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
        fcntl.fcntl(copy, fcntl.F_ADD_SEALS, seals)
        os.execve(copy, argv, environment)
    except OSError:
        return


def is_from_memory() -> bool:
    try:
        return os.readlink("/proc/self/exe").startswith("/memfd:")
    except OSError:
        return False
