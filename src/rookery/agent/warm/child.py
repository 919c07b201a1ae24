"""A fork of the warm process: an agent with its door's descriptors, environment and directory. A
thread reads the connection to the door: its signals, or its death, end this process and what it
started."""

import gc
import json
import logging
import marshal
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from rookery.agent.process import keeper, shutdown
from rookery.client import warm_agent
from rookery.client.config import confinement
from rookery.home import paths
from rookery.processes import MARK, become_subreaper, cgroups, namespaces, tree
from rookery.wire.credentials import peer_of

MAX_OFFER_BYTES = 16 * 1024 * 1024
"""Bytes of arguments and environment: more than any system allows."""
FAILED = 70


class Offer(NamedTuple):
    """The first message of a door. The rest, its environment above all, is read only by the fork:
    whatever the warm process has had in its memory, all its agents have."""

    length: int
    mark: str
    descriptors: list[int]
    sandbox: int = -1
    """A process in it, by its pidfd; -1: the door is in none."""

    def close(self) -> None:
        for number in (*self.descriptors, *([self.sandbox] if self.sandbox >= 0 else [])):
            os.close(number)


class Wish(NamedTuple):
    arguments: list[str]
    directory: str
    environment: Mapping[bytes, bytes]
    umask: int
    read: bytes
    greeted: bool


def admit(listener: socket.socket) -> tuple[socket.socket, Offer] | None:
    """Accept a door and return its connection and offer; None if it is not ours to serve."""
    connection, _ = listener.accept()
    offer = _read_offer(connection)
    if offer is None:
        connection.close()
        return None
    return connection, offer


def _read_offer(connection: socket.socket) -> Offer | None:
    """Read a door's offer; None if it is invalid: then only the connection is left open."""
    descriptors: list[int] = []
    try:
        connection.settimeout(warm_agent.HANDOVER_TIMEOUT)
        if peer_of(connection)[0] != os.geteuid():
            return None
        size, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
        inside = size == warm_agent.INSIDE
        if inside:
            size, descriptors, _, _ = socket.recv_fds(connection, 4, 4)
        length = int.from_bytes(size)
        if len(size) == 4 and len(descriptors) == 3 + inside and length <= MAX_OFFER_BYTES:
            mark = os.fsdecode(_exactly(connection, warm_agent.MARK_SIZE).rstrip(b"\0"))
            if not inside or _may_enter(descriptors[3]):
                return Offer(length, mark, descriptors[:3], [*descriptors, -1][3])
    except (OSError, ValueError, EOFError):
        pass
    for number in descriptors:
        os.close(number)
    return None


def read_wish(connection: socket.socket, offer: Offer) -> Wish | None:
    """Read the rest of a door's request; None if it is invalid or meant for another build."""
    try:
        data = _exactly(connection, offer.length)
        # What is inside a sandbox is not trusted with a format that can crash its reader.
        fields: Any = marshal.loads(data) if offer.sandbox < 0 else read_text(data)  # noqa: S302 - of this user
        if fields.pop("key") == warm_agent.items():
            connection.settimeout(None)
            return Wish(**fields)
    except (OSError, ValueError, EOFError, TypeError, KeyError, AttributeError):
        pass
    return None


def read_text(data: bytes) -> Any:
    """Parse the request of a door in a sandbox. Raises ValueError, TypeError, KeyError."""
    fields = json.loads(data)
    fields["environment"] = {
        os.fsencode(name): os.fsencode(value) for name, value in fields["environment"].items()
    }
    fields["read"] = fields["read"].encode("latin-1")
    return fields


def _may_enter(pidfd: int) -> bool:
    """Tell whether the process is in a sandbox, and our program is nothing that it could write."""
    return namespaces.is_from_memory() and namespaces.is_apart(namespaces.pid_of(pidfd))


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        more = connection.recv(min(65536, length - len(parts)))
        if not more:
            raise EOFError
        parts += more
    return bytes(parts)


def tell_status(connection: socket.socket, status: int) -> None:
    """Send an exit code; a signal's as a shell reports it."""
    code = status if status >= 0 else 128 - status
    with suppress(OSError):
        connection.send(warm_agent.STATUS + bytes([code & 0xFF]))


def become(connection: socket.socket, offer: Offer, wish: Wish | None) -> NoReturn:
    """Be the agent until its end. `wish` None: end, so that the door starts another one."""

    def end(status: int) -> NoReturn:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        tell_status(connection, status)
        os._exit(status & 0xFF)

    try:
        if wish is None:
            end(FAILED)
        if offer.sandbox >= 0:
            _move_into(offer.sandbox)
        _settle(offer, wish)
        connection.set_inheritable(False)
        watch = threading.Thread(target=_watch, args=(connection, end), name="door", daemon=True)
        watch.start()
        connection.send(warm_agent.TAKEN)
        from rookery.agent.server import Begun, main

        main(wish.arguments, end, Begun(wish.read, wish.greeted))
    except BaseException:  # noqa: BLE001 - the end of the process: it is reported, and nothing else is left
        sys.excepthook(*sys.exc_info())
        end(FAILED)


def _move_into(pidfd: int) -> None:
    """Continue in the sandbox, in a fork. This process stays outside, keeps nothing open and only
    waits for the one inside."""
    door = namespaces.pid_of(pidfd)
    namespaces.take_limits(door)
    cgroups.follow(door)
    namespaces.enter(pidfd)
    inside = os.fork()
    namespaces.give_up_privileges()
    if inside:
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inside, 0)[1]) & 0xFF)


def _settle(offer: Offer, wish: Wish) -> None:
    with suppress(PermissionError):  # a spare leads its session already
        os.setsid()
    for number, given in enumerate(offer.descriptors):
        os.dup2(given, number)
    offer.close()
    os.umask(wish.umask)
    os.environb.clear()
    os.environb.update(wish.environment)
    time.tzset()
    os.chdir(wish.directory)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The old objects may hold bytes of the parent's.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    _retarget_logging()
    random.seed()
    gc.enable()
    become_subreaper()  # daemons that it starts are still ours to end
    home = paths.home()
    os.environ.setdefault(MARK, keeper.mark(home))
    # The whole process, before other threads begin; as set when the warm process started.
    confinement.enter(off=warm_agent.is_unconfined())


def _retarget_logging() -> None:
    """Redirect log handlers made at import, which write to the parent's stderr object."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    for logger in [logging.root, *loggers]:
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.setStream(sys.stderr)


def _watch(connection: socket.socket, end: Callable[[int], NoReturn]) -> None:
    """End with the door or by its signal. All that was started here ends first: it does not descend
    from a worker."""
    try:
        message = connection.recv(2)
    except OSError:
        message = b""
    shutdown.begin()
    tree.end_below(os.getpid())
    end(128 + message[1] if len(message) == 2 else FAILED)
