"""Who is at the other end of a socket: what the kernel knows, not what is said."""

import socket
import struct

from rookery.processes.lineage import LINUX

LOCAL_PEERCRED = 1  # macOS


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """The uid and the pid (0: not told) at the other end, as the kernel knows them."""
    if LINUX:
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, user, _ = struct.unpack("3i", data)
        return int(user), int(pid)
    data = connection.getsockopt(0, LOCAL_PEERCRED, 76)
    return int(struct.unpack_from("=II", data)[1]), 0
