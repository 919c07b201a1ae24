"""Which process is at the other end of a connection, and whether an agent started it.

For a Unix socket the kernel says so. For TCP it is looked up if the peer is on this machine: the
socket table gives the inode of the other end, and some process has that open. A local peer that
cannot be identified counts as an agent's, unless it proves a browser's key: it may have exited in
order not to be looked at."""

import ipaddress
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

from rookery.client import guard
from rookery.core.refusals import Refused
from rookery.daemon.options import NONE, Options
from rookery.processes import ancestry
from rookery.processes.lineage import LINUX
from rookery.wire.credentials import peer_of

type Address = tuple[str, int]

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
LISTED = 5.0
"""Seconds for `lsof`, where there is no /proc."""


class Descent(Enum):
    OWN = "own"
    """Of no agent: the user's, or on another machine."""
    AGENTS = "agents"
    HIDDEN = "hidden"
    """Here, but no process that can be seen has it: it is gone, or in another PID namespace."""
    FOREIGN = "foreign"
    """Another user's: whose work it does cannot be known (setpriv, a container, a proxy)."""


class Peer:
    """The other end of a connection. It is created with the connection; costly facts are looked up
    on demand."""

    def __init__(self, connection: socket.socket, home: str, *, controls: bool) -> None:
        self._home = home
        self.local = connection.family == socket.AF_UNIX
        """It came by the daemon's own socket."""
        self.controls = controls
        """By the one that no confined agent can reach."""
        self.own = self.local and peer_of(connection)[0] == os.geteuid()
        self._descent: Descent | None = None
        self._user: int | None = None
        self._ends: tuple[Address, Address] | None = None
        if self.local:
            # Now: when a request comes, the sender may be gone.
            from_agent = guard.peer_is_agents(connection, home)
            self._descent = Descent.AGENTS if from_agent else Descent.OWN
        else:
            name, here = connection.getpeername(), connection.getsockname()
            self._ends = (_plain(name[0]), name[1]), (_plain(here[0]), here[1])

    @property
    def address(self) -> str:
        """The address of the other end; "" for a local socket, which has none."""
        return self._ends[0][0] if self._ends else ""

    def descent(self) -> Descent:
        """Return whether the peer descends from an agent. Blocks for some milliseconds; the answer
        is cached for the life of the connection."""
        if self._descent is None:
            assert self._ends is not None
            self._descent = self._look_up(*self._ends)
        return self._descent

    def user(self) -> int | None:
        """Return the uid at the other end, or None if it cannot be known. Blocks for some
        milliseconds; the answer is cached for the life of the connection."""
        if self._user is None and self._ends is not None:
            self._user = _user(*self._ends)
        return self._user

    def _look_up(self, there: Address, here: Address) -> Descent:
        owner = _owner(there, here) if LINUX else _listed(there, here)
        if owner is None:
            is_here = ipaddress.ip_address(there[0]).is_loopback or there[0] == here[0]
            return Descent.HIDDEN if is_here else Descent.OWN
        if owner.user not in (os.geteuid(), None):
            return Descent.FOREIGN
        if not owner.pid:
            return Descent.HIDDEN
        try:
            agents = guard.is_agents(owner.pid, self._home)
        except (OSError, ancestry.Gone):
            return Descent.HIDDEN
        return Descent.AGENTS if agents else Descent.OWN


class Owner(NamedTuple):
    user: int | None
    pid: int
    """0: no process that can be seen has it open."""


def _plain(address: str) -> str:
    """Normalise an address: map IPv4-in-IPv6 to IPv4 and strip the zone."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or parsed)


def check_users_known(options: Options) -> None:
    """Check that users can be told apart, if there is no login or a proxy's header is trusted.
    Raises Refused if they cannot."""
    if options.auth != NONE and not options.trusted_user_header:
        return
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with (
        socket.create_server((options.host, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
    ):
        name, there = client.getsockname(), server.getsockname()
        known = _user((_plain(name[0]), name[1]), (_plain(there[0]), there[1]))
    if known != os.geteuid():
        where = "/proc/net/tcp" if LINUX else "lsof"
        raise Refused(
            "unknown_peers",
            f"--auth none: {where} does not tell here which user connects, so every user of this "
            "machine could come in. Use --auth token.",
        )
    if not LINUX and len(options.users) > 1:
        raise Refused(
            "unknown_peers",
            "--auth none: this system does not tell which connections are the proxy's. Use --auth "
            "token, or let the proxy run as your own user.",
        )


def _user(there: Address, here: Address) -> int | None:
    if LINUX:
        row = _row(there, here)
        return row[0] if row else None
    owner = _listed(there, here)
    return owner.user if owner else None


def _owner(there: Address, here: Address) -> Owner | None:
    """Return the owner of the socket at the other end, or None if it is not on this machine."""
    row = _row(there, here)
    return Owner(row[0], _holder(row[1])) if row else None


def _row(there: Address, here: Address) -> tuple[int | None, str] | None:
    """Return the user and the inode of a socket. The user of a closed one is None: the table says 0
    for it."""
    for path in TABLES:
        with suppress(OSError), open(path, encoding="ascii") as table:
            next(table)
            for line in table:
                fields = line.split()
                if _end(fields[1]) == there and _end(fields[2]) == here:
                    return int(fields[7]) if fields[9] != "0" else None, fields[9]
    return None


def _end(field: str) -> Address:
    """Parse an address of the kernel's table: hex, in groups of four bytes in the machine's byte
    order."""
    packed, _, port = field.partition(":")
    groups = [int(packed[at : at + 8], 16) for at in range(0, len(packed), 8)]
    raw = b"".join(socket.htonl(word).to_bytes(4, "big") for word in groups)
    return _plain(str(ipaddress.ip_address(raw))), int(port, 16)


def _holder(inode: str) -> int:
    """Return the newest process that has the socket open, or 0. An agent can make no other process
    hold its socket except one that it started."""
    link = f"socket:[{inode}]"
    for pid in sorted(
        (int(name) for name in os.listdir("/proc") if name.isdecimal()), reverse=True
    ):
        with suppress(OSError):
            if any(target == link for target in _open_files(pid)):
                return pid
    return 0


def _open_files(pid: int) -> Iterator[str]:
    place = f"/proc/{pid}/fd"
    for name in os.listdir(place):
        with suppress(FileNotFoundError):  # closed meanwhile
            yield os.readlink(f"{place}/{name}")


def _listed(there: Address, here: Address) -> Owner | None:
    """Return the owner according to `lsof` (macOS), or None."""
    with suppress(OSError, subprocess.TimeoutExpired):
        argv = ["lsof", "-nP", "-a", f"-iTCP@{here[0]}:{here[1]}", "-Fpun"]
        completed = subprocess.run(
            argv, capture_output=True, text=True, timeout=LISTED, check=False
        )
        pid, user = 0, None
        for line in completed.stdout.splitlines():
            if line[:1] == "p":
                pid, user = int(line[1:]), None
            elif line[:1] == "u":
                user = int(line[1:])
            elif line[:1] == "n" and line[1:].startswith(f"{there[0]}:{there[1]}->"):
                return Owner(user, pid)
    return None
