"""The daemon of this home, for processes on the same machine: its record, and requests over its own
socket, which need no token."""

import http.client
import json
import os
import socket
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple, override

from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.home import paths
from rookery.log.lock import is_held
from rookery.processes import tree
from rookery.wire.credentials import peer_of

RECORD = os.path.join("run", "daemon.json")
LOCK = os.path.join("run", "daemon.lock")
LOG = os.path.join("run", "daemon.log")
CONNECTS = 2.0
"""Seconds."""
ANSWER_TIMEOUT = 30.0
"""Seconds to wait for an answer."""


class NoDaemon(Fixed):
    """No daemon serves this home, or it does not respond."""

    kind = "failed"
    reason = "no_daemon"

    def __init__(self, why: str = "No daemon is running.") -> None:
        super().__init__(f"{why} To start one: rookery serve --background")


def socket_path(home: str) -> str:
    """Return the path of the daemon's own socket. All homes with long paths share a directory, so
    its name contains a hash of the home."""
    name = sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:8]
    return paths.named_socket(home, f"d{name}.s")


def record(home: str) -> Json | None:
    """Return the running daemon's record; None if there is none, or it is just about to start. If
    the file is empty or names another process, the record has at least `pid` and `start`."""
    saved = paths.read_json(os.path.join(home, RECORD)) or {}
    try:
        if not is_held(os.path.join(home, LOCK)):
            return None
    except OSError:
        return None
    pid, start = lenient.integer(saved, "pid"), lenient.text(saved, "start")
    if pid and start and tree.alive(pid, start):
        return saved
    pid = listening(home)
    start = tree.start_time(pid) or "" if pid else ""
    return {**saved, "pid": pid, "start": start, "socket": socket_path(home)} if start else None


def listening(home: str) -> int:
    """Return the pid of the process that has the daemon's socket, as the kernel knows it, or 0. It
    need not answer: it may be stopped."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link, suppress(OSError):
        link.settimeout(CONNECTS)
        link.connect(socket_path(home))
        user, pid = peer_of(link)
        return pid if user == os.geteuid() else 0
    return 0


class Answer(NamedTuple):
    status: int
    kind: str
    """Its content type, without parameters."""
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    home: str, method: str, path: str, body: Json | None = None, *, patience: float = ANSWER_TIMEOUT
) -> Answer:
    """Send one request as the user. Raises NoDaemon."""
    daemon = record(home)
    if daemon is None:
        raise NoDaemon
    link = Link(daemon, patience)
    data = None if body is None else json.dumps(body).encode()
    headers = {} if data is None else {"Content-Type": "application/json"}
    try:
        with suppress(BrokenPipeError):  # it answered, and closed, before it had heard it all
            link.request(method, path, data, headers)
        answer = link.getresponse()
        kind = answer.headers.get_content_type()
        return Answer(answer.status, kind, answer.read())
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NoDaemon(f"The daemon does not respond ({why}).") from error
    finally:
        link.close()


def answers(home: str, patience: float) -> bool:
    """Tell whether the daemon answers at all."""
    try:
        request(home, "GET", "/favicon.svg", patience=patience)
    except NoDaemon:
        return False
    return True


class Link(http.client.HTTPConnection):
    """A connection through the control socket if there is one: then the other socket takes no
    changes."""

    def __init__(self, record: Json, patience: float = ANSWER_TIMEOUT) -> None:
        super().__init__("localhost", timeout=patience)
        control = lenient.text(record, "control")
        self._place = lenient.text(record, "socket")
        self._control = f"\0{control}" if control else ""

    @override
    def connect(self) -> None:
        self.sock = link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(self.timeout)
        try:
            link.connect(self._control or self._place)
        except (PermissionError, ConnectionRefusedError):  # an agent's, or in another namespace
            link.connect(self._place)
        if peer_of(link)[0] != os.geteuid():  # a name that is no file is anybody's to take
            raise OSError(None, "another user listens on its socket")
