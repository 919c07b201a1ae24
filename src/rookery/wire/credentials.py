"""Unix sockets: listening on them, and identifying the peer by what the kernel knows, not by what
it claims."""

import os
import select
import socket
import struct

from rookery.processes import LINUX

SO_PEERPIDFD = 77  # Linux 6.5
LOCAL_PEERCRED = 1  # macOS
LOCAL_PEERPID = 2


def listening(name: str, backlog: int) -> socket.socket:
    """Return a listening socket. `name`: a path, or an abstract name (it begins with a NUL)."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(name)
    listener.listen(backlog)
    return listener


def listening_at(path: str, backlog: int) -> socket.socket:
    """Return a socket that listens for this user alone. It is bound under a temporary name, then
    moved into place, so that no client ever meets a dead socket."""
    temporary = f"{path[:-2]}.{os.getpid() % 10000}"
    if os.path.lexists(temporary):
        os.unlink(temporary)
    listener = listening(temporary, backlog)
    os.chmod(temporary, 0o600)
    os.rename(temporary, path)
    return listener


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the peer's uid and pid (0 if not known), as the kernel knows them."""
    if LINUX:
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, user, _ = struct.unpack("3i", data)
        return int(user), int(pid)
    data = connection.getsockopt(0, LOCAL_PEERCRED, 76)
    try:
        (pid,) = struct.unpack("i", connection.getsockopt(0, LOCAL_PEERPID, 4))
    except OSError:
        pid = 0
    return int(struct.unpack_from("=II", data)[1]), int(pid)


class Handle:
    """Holds on to the process that connected, so that its pid is not reused meanwhile. On older
    kernels there is only the pid."""

    def __init__(self, connection: socket.socket) -> None:
        self.pid = peer_of(connection)[1]
        self._handle = -1
        try:
            data = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, 4) if LINUX else b""
        except OSError as error:
            # It ended and was waited for; another fault means that the kernel has no such thing.
            self.pid = 0 if isinstance(error, ProcessLookupError) else self.pid
            return
        if data:
            (self._handle,) = struct.unpack("i", data)

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def is_there(self) -> bool:
        """Return False once the process has ended, or if its pid is not known (another
        namespace)."""
        if self.pid <= 0 or self._handle < 0:
            return self.pid > 0
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return not poll.poll(0)
