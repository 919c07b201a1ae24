"""Nothing that comes in, and no error of one look, ends the daemon or shuts its owner out."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from rookery.client.daemon import local
from rookery.core.refusals import Refused
from rookery.daemon.fleet import Fleet
from rookery.daemon.process import lifecycle
from rookery.daemon.process.connection_limit import NEWCOMERS, Guest, Room
from rookery.home.log_rotation import BEFORE, LOG_BYTES
from rookery.processes import tree
from tests.client.test_fleet import no_descriptor_left
from tests.daemon.served import Served, awaited
from tests.daemon.test_lifecycle import rookery


@contextmanager
def idle(count: int, address: str | tuple[str, int]) -> Iterator[list[socket.socket]]:
    """Connections that say nothing."""
    with ExitStack() as stack:
        links = []
        for _ in range(count):
            family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
            link = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            link.settimeout(60)
            link.connect(address)
            links.append(link)
        yield links


def place(daemon: Served) -> tuple[str, int]:
    host, _, port = daemon.netloc.rpartition(":")
    return host, int(port)


def test_a_crowd_of_idle_connections_keeps_nobody_out(home: Path) -> None:
    words = [sys.executable, "-m", "rookery", "serve", "--background", "--port", "0"]
    shell = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *words]
    subprocess.run(shell, check=True, capture_output=True, timeout=120)
    record = local.record(str(home))
    assert record is not None
    daemon = Served(home, record)
    try:
        session = daemon.create()
        with idle(400, place(daemon)), idle(200, record["socket"]):
            assert daemon.ask("GET", "/api/about").status == 200
            assert daemon.own("GET", "/api/about").status == 200
            daemon.own("PATCH", f"/api/sessions/{session}", {"title": "looked at"})
            titles = lambda: [  # noqa: E731
                each["title"] for each in daemon.own("GET", "/api/sessions").json()["sessions"]
            ]
            assert awaited(lambda: titles() == ["looked at"])
        assert tree.alive(record["pid"], record["start"])
    finally:
        daemon.stop()


def test_a_process_may_open_more_files_than_its_shell_said(home: Path) -> None:
    program = (
        "from rookery.daemon.process.connection_limit import raise_limit as r; import resource;"
    )
    program += "print(r(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    shell = ["sh", "-c", 'ulimit -S -n 256 && exec "$@"', "sh", sys.executable, "-c", program]
    said = subprocess.run(shell, check=True, capture_output=True, text=True, timeout=120).stdout
    connections, files = map(int, said.split())
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert files > 256 or hard == 256
    assert connections <= files - 128


def dropped(room: Room, guest: Guest) -> Callable[[], bool]:
    seen: list[Guest] = []
    guest.drop = lambda: seen.append(guest)
    room.enter(guest)
    return lambda: bool(seen)


def test_strangers_of_the_greatest_crowd_go_first_and_the_oldest_of_them() -> None:
    room = Room(200)
    known = Guest("192.0.2.1")
    known.is_known = lambda: True
    stays = [dropped(room, known), dropped(room, Guest("192.0.2.9"))]
    crowd = [dropped(room, Guest(f"2001:db8::{n:x}")) for n in range(198)]
    assert not any(is_gone() for is_gone in (*stays, *crowd))
    newcomers = [dropped(room, Guest("198.51.100.7")) for _ in range(5)]
    assert [is_gone() for is_gone in crowd[:6]] == [True] * 5 + [False]
    assert not any(is_gone() for is_gone in (*stays, *newcomers))


def test_those_who_are_known_leave_places_for_others() -> None:
    room, known = Room(200), []
    for _ in range(200):
        guest = Guest("192.0.2.1")
        guest.is_known = lambda: True
        known.append(dropped(room, guest))
    newcomers = [dropped(room, Guest("192.0.2.1")) for _ in range(NEWCOMERS)]
    assert sum(is_gone() for is_gone in known) == NEWCOMERS
    assert not any(is_gone() for is_gone in newcomers)


def test_a_look_that_fails_is_followed_by_another(daemon: Served, home: Path) -> None:
    session, sessions, log = daemon.create(), home / "sessions", home / local.LOG
    sessions.rename(home / "away")
    sessions.write_text("not a directory")
    awaited(lambda: "looking at the sessions" in log.read_text())
    sessions.unlink()
    (home / "away").rename(sessions)
    daemon.own("PATCH", f"/api/sessions/{session}", {"title": "again"})
    listed = lambda: daemon.own("GET", "/api/sessions").json()["sessions"]  # noqa: E731
    assert awaited(lambda: [each["title"] for each in listed()] == ["again"])
    assert "Traceback" not in log.read_text()


def test_sessions_stay_listed_while_no_file_can_be_opened(daemon: Served, home: Path) -> None:
    session = daemon.create()
    fleet = Fleet(str(home))
    fleet.look()
    with no_descriptor_left():
        with pytest.raises(OSError, match="Too many"):
            fleet.look()
        with pytest.raises(OSError, match="Too many"):
            fleet._head(session, fleet.head(session), changed=True)
    assert [head["id"] for head in fleet.heads] == [session]


def test_the_log_stays_small(daemon: Served, home: Path) -> None:
    log = home / local.LOG
    with open(log, "ab") as file:
        file.write(b"x" * (LOG_BYTES + 1))
    awaited((home / (local.LOG + BEFORE)).exists)
    awaited(lambda: log.stat().st_size < LOG_BYTES)


# --- requests that cannot be read --------------------------------------------------------------

UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
UNREADABLE = {
    "no request": b"hello\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: HERE\r\nHost: HERE\r\n\r\n",
    "a bad name": b"GET / HTTP/1.1\r\nHost: HERE\r\nA B: 1\r\n\r\n",
    "a bad value": b"GET / HTTP/1.1\r\nHost: HERE\r\nA: \x00\r\n\r\n",
    "a bad target": b"GET /\xff HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "a large header": b"GET / HTTP/1.1\r\nHost: HERE\r\nA: %b\r\n\r\n" % (b"a" * 100_000),
    "a bad length": b"POST /login HTTP/1.1\r\nHost: HERE\r\nContent-Length: -1\r\n\r\n",
    "a bad encoding": b"POST /login HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: gzip\r\n\r\n",
    "a bad chunk": b"POST /login HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\nX\r\n",
    "a long address": b"GET /%b HTTP/1.1\r\nHost: HERE\r\n\r\n" % (b"%61" * 20_000),
    "many lines": b"GET / HTTP/1.1\r\nHost: HERE\r\n%b\r\n"
    % b"".join(b"X-%d: 1\r\n" % n for n in range(6_000)),
    "many lines after another request": b"GET /style.css HTTP/1.1\r\nHost: HERE\r\n\r\n"
    b"GET / HTTP/1.1\nHost: HERE\n%b\n" % (b"X: 1\n" * 6_000),
    "small chunks": b"POST /login HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\n%b"
    % (b"1\r\na\r\n" * 5_000),
    "TLS": bytes.fromhex("160301012e0100012a0303") + bytes(300),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a WebSocket without a key": b"GET /api/stream HTTP/1.1\r\nHost: HERE\r\n%b\r\n" % UPGRADE,
    "a WebSocket by POST": b"POST /api/stream HTTP/1.1\r\nHost: HERE\r\n%b%b\r\n" % (UPGRADE, KEY),
    "a WebSocket with many headers": b"GET /api/stream HTTP/1.1\r\nHost: HERE\r\n%b%b%b\r\n"
    % (UPGRADE, KEY, b"".join(b"X-%d: 1\r\n" % n for n in range(300))),
    "a WebSocket with a long header": b"GET /api/stream HTTP/1.1\r\nHost: HERE\r\n%b%bX: %b\r\n\r\n"
    % (UPGRADE, KEY, b"x" * 20_000),
    "a WebSocket without a log-in": b"GET /api/stream HTTP/1.1\r\nHost: HERE\r\n%b%b\r\n"
    % (UPGRADE, KEY),
}


def answered(daemon: Served, request: bytes) -> tuple[int, dict[str, str]]:
    with socket.create_connection(place(daemon), timeout=60) as link:
        link.sendall(request.replace(b"HERE", daemon.netloc.encode()))
        with link.makefile("rb") as file:
            *_, head, body = re.split(rb"(HTTP/1.1 [^{]+)", file.read())
            status = int(head.split()[1])
            return status, json.loads(body)


def test_what_cannot_be_read_is_answered_like_every_error_and_leaves_a_line_at_most(
    served: Served,
) -> None:
    log = Path(served.home, local.LOG)
    for name, request in UNREADABLE.items():
        before = log.read_text()
        status, body = answered(served, request)
        assert 400 <= status <= 501, name
        assert set(body) == {"error", "kind", "message", "remedy"}, name
        assert body["error"], name
        assert body["message"].endswith("."), (name, body)
        more = log.read_text().removeprefix(before)
        assert len(more.splitlines()) <= 1, (name, more)


def test_a_query_has_few_names_and_each_once(served: Served) -> None:
    """16,000 names took six seconds, without a log-in."""
    for query in ("&".join(f"{n:x}" for n in range(2000)), "a=1&b=2&a=3"):
        answer = served.ask("GET", f"/favicon.svg?{query}", token="")
        assert (answer.status, answer.json()["error"]) == (422, "invalid")


def test_a_frame_that_is_no_text_leaves_a_line_at_most(served: Served) -> None:
    log = Path(served.home, local.LOG)
    before = log.read_text()
    for frame in (b"\x81\x82\x00\x00\x00\x00\xff\xfe", b"\xf1\x80\x00\x00\x00\x00", b"\x81\x01a"):
        with socket.create_connection(place(served), timeout=60) as link:
            head = f"GET /api/stream HTTP/1.1\r\nHost: {served.netloc}\r\n".encode()
            token = f"Authorization: Bearer {served.token}\r\n\r\n".encode()
            link.sendall(head + UPGRADE + KEY + token)
            assert b"101" in link.recv(100)
            link.sendall(frame)
            while link.recv(9999):
                pass
    more = log.read_text().removeprefix(before)
    assert len(more.splitlines()) <= 3, more
    assert "Traceback" not in more


def test_a_request_that_is_reset_in_the_middle_leaves_nothing(served: Served) -> None:
    log = Path(served.home, local.LOG)
    before = log.read_text()
    for data in (b"GE", b"GET / HTTP/1.1\r\nHost", b"POST /login HTTP/1.1\r\nHost: HERE\r\n"):
        with socket.create_connection(place(served), timeout=60) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.sendall(data)
    assert served.own("GET", "/api/about").status == 200
    assert log.read_text() == before


# --- a daemon that is not as its record says ---------------------------------------------------


@pytest.mark.parametrize("written", ["", "[]", '{"pid": 1, "start": "x"}', None])
def test_a_record_that_is_wrong_is_put_right(
    daemon: Served, home: Path, written: str | None
) -> None:
    place = home / local.RECORD
    os.kill(daemon.process.pid, signal.SIGSTOP)  # so that it cannot
    try:
        place.unlink() if written is None else place.write_text(written)
        found = local.record(str(home))
        assert found is not None
        assert found["pid"] == daemon.process.pid
        with pytest.raises(Refused, match="already serves"):
            lifecycle.start(str(home), lifecycle.Options(port=0))
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    assert awaited(lambda: local.record(str(home)) == daemon.record)


def test_no_other_process_is_stopped_in_its_place(daemon: Served, home: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            os.kill(daemon.process.pid, signal.SIGSTOP)
            named = {"pid": other.pid, "start": tree.start_time(other.pid)}
            (home / local.RECORD).write_text(json.dumps({**daemon.record, **named}))
            assert lifecycle.stop(str(home)) == lifecycle.STOPPED
            assert not tree.alive(*daemon.process[:2])
            assert other.poll() is None
        finally:
            other.kill()


def test_a_daemon_that_is_stopped_is_told_of_and_can_be_ended(daemon: Served, home: Path) -> None:
    os.kill(daemon.process.pid, signal.SIGSTOP)
    status = rookery("serve", "--status")
    assert status.returncode == 1
    assert f"pid {daemon.process.pid}" in status.stdout
    assert "rookery serve --stop" in status.stderr
    assert "rookery serve --stop" in rookery("serve", "--background").stderr
    assert "Stopped." in rookery("serve", "--stop").stderr
    assert local.record(str(home)) is None
    shutil.rmtree(home / "run")
    assert rookery("serve", "--status").returncode == 1
