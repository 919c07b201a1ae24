"""Landlock's scopes (Linux 6.12, ABI 6): a process in a domain cannot connect to an abstract
socket, nor signal or trace a process, outside of it. Children inherit the domain and cannot leave
it.

Files are not restricted. Without CAP_SYS_ADMIN the kernel demands `no_new_privs` first, so sudo
gains nothing."""

import errno
import os
import sys

from rookery.processes.lineage import LINUX, libc

CREATE_RULESET = 444  # the same number on every architecture
RESTRICT_SELF = 446
VERSION = 1
SCOPES = 1 | 2  # LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL
LEAST = 6
PR_SET_NO_NEW_PRIVS = 38

_abi: int | None = None


def abi() -> int:
    """Return the kernel's Landlock ABI version; 0 if it has none, or it is switched off."""
    global _abi  # noqa: PLW0603 - the same for as long as the system runs
    if _abi is None:
        _abi = max(0, _call(CREATE_RULESET, None, 0, VERSION)) if LINUX else 0
    return _abi


def available() -> bool:
    return abi() >= LEAST


def ruleset() -> int:
    """Return a descriptor for `enter`, made before a fork; close-on-exec. Raises OSError."""
    attributes = b"".join(value.to_bytes(8, sys.byteorder) for value in (0, 0, SCOPES))
    made = _call(CREATE_RULESET, attributes, len(attributes), 0)
    if made < 0:
        raise _error("landlock_create_ruleset")
    os.set_inheritable(made, False)
    return made


def enter(made: int) -> None:
    """Put this thread, and everything it will start, into the domain for good. Raises OSError."""
    if _call(RESTRICT_SELF, made, 0) == 0:
        return
    if _errno() == errno.EPERM:
        if libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise _error("no_new_privs")
        if _call(RESTRICT_SELF, made, 0) == 0:
            return
    raise _error("landlock_restrict_self")


def enter_now() -> None:
    """Enter a domain of this process's own, without a fork. Raises OSError."""
    made = ruleset()
    try:
        enter(made)
    finally:
        os.close(made)


def _call(number: int, *arguments: bytes | int | None) -> int:
    import ctypes  # loaded already, wherever a fork came before

    typed = [
        ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)
        for value in arguments
    ]
    return int(libc().syscall(ctypes.c_long(number), *typed))


def _errno() -> int:
    import ctypes

    return ctypes.get_errno()


def _error(what: str) -> OSError:
    number = _errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
