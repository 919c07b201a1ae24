"""Who is let in by a real daemon, what it hides, and what its answers forbid a browser."""

import asyncio
import contextlib
import json
import os
import socket
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from rookery.client import fleet
from rookery.client.daemon import local
from rookery.core.blocks.failures import after_error
from rookery.daemon import passphrase
from rookery.daemon.access.devices import Devices
from rookery.daemon.access.lockout import BURST, EVERY, MAX_GUESSES, WINDOW, Drip, Lockout
from rookery.daemon.options import Options
from rookery.daemon.process import connections, lifecycle
from tests.daemon.served import Served, awaited, serve
from tests.e2e.house import CALM
from tests.worker.aviary import Aviary

INTRUDER = Path(__file__).with_name("intruder.py")
SECRET = f"correct horse {os.urandom(4).hex()}"


# --- an agent's process ------------------------------------------------------------------------


LONG = [pytest.param(each, marks=pytest.mark.long) for each in ("token", "passphrase")]


@pytest.fixture(params=["none", *LONG])
def guarded(aviary: Aviary, request: pytest.FixtureRequest) -> Iterator[Served]:
    kept = passphrase.hashed(SECRET) if request.param == "passphrase" else ""
    daemon = serve(Path(aviary.home), auth=request.param, passphrase=kept)
    yield daemon
    lifecycle.stop(aviary.home)


async def test_an_agent_changes_nothing_through_the_daemon(aviary: Aviary, guarded: Served) -> None:
    link = local.request(guarded.home, "POST", "/api/devices/link", {}).json()["link"]
    code, out = link.rpartition("=")[2], aviary.root / "tries"
    own = aviary.hatch()
    given = [str(out), guarded.home, guarded.address, guarded.token, code, SECRET]
    devices = len(Devices(guarded.home).all())
    await own.prompt([{"spawn": [sys.executable, "-P", str(INTRUDER), *given]}, *CALM])
    tries = await asyncio.to_thread(awaited, lambda: _told(out), 120.0)
    for name, came in tries.items():
        assert _is_no(came), (name, came)
    assert len(tries) == 20
    # What it says is one thing; what came of it is another.
    assert [head["id"] for head in fleet.heads(guarded.home)] == [own.id]
    assert len(Devices(guarded.home).all()) == devices
    assert local.record(guarded.home) is not None
    assert guarded.log_in(code=code).status == 200


def _told(out: Path) -> dict[str, str]:
    text = out.read_text() if out.exists() else ""
    lines = [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]
    found = {line["try"]: line["came"] for line in lines}
    return found if "done" in found else {}


def _is_no(came: str) -> bool:
    signs = ("from_the_agent", "wrong_socket", "PermissionError", "An agent cannot", "no_token")
    signs += ("not waited for", "nothing kept", "ConnectionRefusedError", "login by", "no login")
    return came == "" or any(sign in came for sign in signs)


# --- names, pages, tokens ----------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil"])
def test_another_host_name_is_refused_against_dns_rebinding(served: Served, host: str) -> None:
    answer = served.ask("GET", "/api/about", Host=host)
    assert answer.status == 421, answer.body
    assert answer.json()["error"] == "foreign_host"


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(served: Served, name: str) -> None:
    port = served.netloc.rpartition(":")[2]
    assert served.ask("GET", "/api/about", Host=f"{name}:{port}").status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_cross_site_requests_are_refused(served: Served, origin: str) -> None:
    for method, path in (("GET", "/api/about"), ("POST", "/api/sessions")):
        answer = served.ask(method, path, {} if method == "POST" else None, Origin=origin)
        assert answer.status == 403
        assert answer.json()["error"] == "foreign_origin"
    assert served.ask("GET", "/api/about", Origin=served.address).status == 200


def test_cross_site_websockets_are_refused(served: Served) -> None:
    for path in ("/api/stream", "/acp"):
        said = _upgrade(served, path, Origin="https://evil.example")
        assert b" 403 " in said.split(b"\r\n")[0]
        assert b"foreign_origin" in said
        assert b" 401 " in _upgrade(served, path, token="").split(b"\r\n")[0]
        assert b" 421 " in _upgrade(served, path, Host="evil.example").split(b"\r\n")[0]
    assert b" 101 " in _upgrade(served, "/api/stream", Origin=served.address).split(b"\r\n")[0]
    # A page always says where it is; what leaves that out and says it is one is refused, not a bug.
    said = _upgrade(served, "/acp", Sec_Fetch_Site="cross-site")
    assert b" 403 " in said.split(b"\r\n")[0]


def _upgrade(daemon: Served, path: str, *, token: str | None = None, **headers: str) -> bytes:
    token = daemon.token if token is None else token
    given = {"Host": daemon.netloc, "Connection": "Upgrade", "Upgrade": "websocket"}
    given |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    given |= ({"Authorization": f"Bearer {token}"} if token else {}) | headers
    lines = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in given.items())
    return _raw(daemon, f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())


def _raw(daemon: Served, data: bytes) -> bytes:
    host, _, port = daemon.netloc.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=120) as link:
        link.sendall(data)
        said = b""
        while b"\r\n\r\n" not in said and (piece := link.recv(65536)):
            said += piece
        link.settimeout(0.5)
        with contextlib.suppress(OSError):
            said += link.recv(65536)
        return said


def test_only_hashes_of_tokens_are_kept(daemon: Served, home: Path) -> None:
    token = daemon.token
    assert len(token) >= 43  # 256 bits
    kept = home / "daemon" / "access.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    for file in (path for path in home.rglob("*") if path.is_file()):
        assert token.encode() not in file.read_bytes(), file


def test_a_login_link_works_once(served: Served) -> None:
    link = served.own("POST", "/api/devices/link", {}).json()["link"]
    code = link.rpartition("=")[2]
    page = served.ask("GET", f"/login?code={code}", token="", Accept="text/html")
    assert page.status == 200  # looking uses nothing up: a preview of the link does no harm
    assert served.log_in(code=code).status == 200
    again = served.log_in(code=code)
    assert (again.status, again.json()["error"]) == (401, "not_let_in")
    page = served.ask("GET", f"/login?code={code}", token="", Accept="text/html")
    assert page.status == 410
    assert b"This link was used" in page.body
    assert b"Log in on this device" not in page.body


def test_a_revoked_device_is_out_at_once(daemon: Served) -> None:
    assert daemon.ask("GET", "/api/about").status == 200
    (device,) = daemon.own("GET", "/api/devices").json()
    assert not {"hash", "key"} & set(device)
    assert daemon.own("DELETE", f"/api/devices/{device['id']}").status == 200
    answer = daemon.ask("GET", "/api/about")
    assert (answer.status, answer.json()["error"]) == (401, "bad_token")


# --- guessing ----------------------------------------------------------------------------------


def test_five_failures_lock_an_address_out(serving: Callable[..., Served]) -> None:
    daemon = serving(auth="passphrase", passphrase=passphrase.hashed(SECRET))
    for _ in range(MAX_GUESSES):
        assert daemon.log_in(passphrase="a wrong one").status == 401
    answer = daemon.log_in(passphrase=SECRET)
    assert (answer.status, answer.json()["error"]) == (429, "locked_out")
    assert int(answer.headers["retry-after"]) <= WINDOW + 1
    # The user at this machine is not an address.
    assert daemon.own("GET", "/api/about").status == 200


def test_behind_a_proxy_one_client_locks_out_only_itself(
    serving: Callable[..., Served],
) -> None:
    """All of them have the proxy's address; which client it is, the proxy says last."""
    hashed = passphrase.hashed(SECRET)
    options = {"behind_proxy": True, "allowed_hosts": ("box.example.org",)}
    daemon = serving(auth="passphrase", passphrase=hashed, **options)

    def log_in(client: str, **form: str) -> int:
        kind = "application/x-www-form-urlencoded"
        named = {"Host": "box.example.org", "Content_Type": kind, "X_Forwarded_For": client}
        return daemon.ask("POST", "/login", urlencode(form).encode(), token="", **named).status

    # What a client claims stands before what the proxy adds.
    guesses = [
        log_in(f"10.9.9.{n}, 203.0.113.7", passphrase="a wrong one") for n in range(MAX_GUESSES)
    ]
    assert guesses == [401] * MAX_GUESSES
    assert log_in("203.0.113.7", passphrase=SECRET) == 429
    assert log_in("203.0.113.8", passphrase=SECRET) == 200
    link = local.request(daemon.home, "POST", "/api/devices/link", {}).json()["link"]
    assert log_in("203.0.113.7", code=link.rpartition("=")[2]) == 200, "a link is no guess"


def test_of_many_guesses_at_once_no_more_are_checked_than_may_fail(
    serving: Callable[..., Served],
) -> None:
    daemon = serving(auth="passphrase", passphrase=passphrase.hashed(SECRET))
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda n: daemon.log_in(passphrase=f"guess {n}"), range(200)))
    assert Counter(answer.status for answer in answers) == {
        401: MAX_GUESSES,
        429: 200 - MAX_GUESSES,
    }


def test_through_a_proxy_guesses_are_slowed_down_and_keep_nobody_out(
    serving: Callable[..., Served],
) -> None:
    """A careless one passes on what a client claims to be, so that a guesser has any address."""
    options = {"behind_proxy": True, "allowed_hosts": ("box.example.org",)}
    daemon = serving(auth="passphrase", passphrase=passphrase.hashed(SECRET), **options)
    named = {"Host": "box.example.org", "Content_Type": "application/x-www-form-urlencoded"}
    link = local.request(daemon.home, "POST", "/api/devices/link", {}).json()["link"]
    code = {"code": link.rpartition("=")[2]}
    token = daemon.ask("POST", "/login", urlencode(code).encode(), token="", **named).json()[
        "token"
    ]
    for number in range(BURST + 5):
        address = {"X_Forwarded_For": f"203.0.113.{number}"}
        answer = daemon.ask("POST", "/login", b"passphrase=", token="", **named, **address)
    assert (answer.status, answer.json()["error"]) == (429, "too_many_guesses")
    assert int(answer.headers["retry-after"]) <= EVERY + 1
    assert daemon.ask("GET", "/api/about", token=token, Host="box.example.org").status == 200
    link = local.request(daemon.home, "POST", "/api/devices/link", {}).json()["link"]
    code = {"code": link.rpartition("=")[2]}
    assert daemon.ask("POST", "/login", urlencode(code).encode(), token="", **named).status == 200


def test_through_a_proxy_one_guess_after_the_other_stays_possible() -> None:
    drip = Drip()
    assert [drip.guess(0.0) for _ in range(BURST)] == [0.0] * BURST
    assert 0 < drip.guess(0.0) <= EVERY
    assert drip.guess(EVERY) == 0.0
    assert drip.guess(EVERY) > 0


def test_wrong_links_lock_nobody_out(serving: Callable[..., Served]) -> None:
    daemon = serving(auth="passphrase", passphrase=passphrase.hashed(SECRET))
    assert [daemon.log_in(code="used").status for _ in range(2 * MAX_GUESSES)] == [
        401
    ] * 2 * MAX_GUESSES
    assert daemon.log_in(passphrase=SECRET).status == 200


def test_wrong_tokens_shut_nobody_out(daemon: Served) -> None:
    """256 bits are not guessed; and a revoked device that comes again and again would shut out all
    others behind its address."""
    token = daemon.token
    for _ in range(3 * MAX_GUESSES):
        assert daemon.ask("GET", "/api/about", token="rk_wrong").status == 401
    assert daemon.ask("GET", "/api/about", token=token).status == 200


def test_lockout_is_by_network_and_ends() -> None:
    lockout = Lockout()
    for at in range(MAX_GUESSES):
        assert lockout.guess(f"2001:db8::{at}", at * 60.0) == 0
    assert lockout.guess("2001:db8::ffff:1", 300.0) == WINDOW - 300.0
    assert lockout.guess("2001:db8:0:1::1", 300.0) == 0
    assert lockout.guess("2001:db8::1", WINDOW + 1) == 0
    for _ in range(2 * MAX_GUESSES):
        assert lockout.guess("10.0.0.2", 0.0) == 0
        lockout.succeeded("::ffff:10.0.0.2")


def test_lockout_forgets_the_oldest_of_too_many() -> None:
    from rookery.daemon.access import lockout as module

    lockout = Lockout()
    for number in range(module.ADDRESSES + 5):
        lockout.guess(str(number), float(number) / 1000)
    assert len(lockout._guesses) == module.ADDRESSES


# --- large, slow, strange ----------------------------------------------------------------------


def test_a_request_that_is_too_large_is_refused(served: Served) -> None:
    body = b'{"name": "' + b"x" * (3 * 1024 * 1024) + b'"}'
    answer = served.ask("POST", "/api/devices/link", body, Content_Type="application/json")
    assert (answer.status, answer.json()["error"]) == (413, "too_large")


def test_also_where_its_header_does_not_say_how_large_it_is(served: Served) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: {served.netloc}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    host, _, port = served.netloc.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=120) as link:
        link.sendall(head.encode())
        said = b""
        try:
            for _ in range(5):
                link.sendall(chunk)
            said = link.recv(65536)
        except OSError:
            said = link.recv(65536)
    assert said.startswith(b"HTTP/1.1 413"), said[:300]


def test_slow_headers_hold_nobody_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slowloris: many connections that say a little now and then. Others are served meanwhile."""
    host, _, port = served.netloc.rpartition(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(50)]
    try:
        for link in slow:
            link.sendall(b"GET /api/about HTTP/1.1\r\nX-A: ")
        assert served.ask("GET", "/api/about").status == 200
        assert connections.HEADER_SECONDS <= 15
        for link in slow:
            link.settimeout(connections.HEADER_SECONDS + 30)
            with contextlib.suppress(ConnectionResetError):
                assert link.recv(100) == b""
    finally:
        for link in slow:
            link.close()


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/..%2f..%2fetc%2fpasswd",
        "/api/sessions/%2e%2e/events",
        "/api/sessions/%00/events",
        "/api/sessions/../../etc/passwd",
        "/api/sessions/..%5c..%5c/logs/worker",
        "/api/sessions/%ff%fe/events",
        "/../../etc/passwd",
        "//etc/passwd",
    ],
)
def test_no_path_leaves_the_home(served: Served, path: str) -> None:
    answer = served.ask("GET", path)
    assert answer.status in (400, 404, 409), (answer.status, answer.body)
    said = answer.json()
    assert set(said) - {"actions"} == {"error", "kind", "message", "remedy"}
    assert said.get("actions", []) == after_error(said["error"])
    assert b"root:" not in answer.body


def test_every_answer_has_the_security_headers(served: Served) -> None:
    for path, token in (("/api/about", None), ("/api/about", ""), ("/nowhere", None)):
        headers = served.ask("GET", path, token=token).headers
        policy = headers["content-security-policy"]
        assert "unsafe-inline" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


def test_no_token_reaches_a_log(daemon: Served, home: Path) -> None:
    token = daemon.token
    daemon.ask("GET", f"/api/about?token={token}")
    daemon.ask("GET", f"/nowhere/{token}")
    _raw(daemon, b"GARBAGE " + token.encode() + b"\r\n\r\n")
    assert token not in (home / local.LOG).read_text()


def test_secrets_are_masked_on_their_way_out(daemon: Served) -> None:
    secret = "sk-ant-api03-" + "a1b2c3d4" * 6
    session = daemon.create(title=f"the key {secret}")
    for path in ("/api/sessions", f"/api/sessions/{session}/events"):
        body = daemon.ask("GET", path).body.decode()
        assert secret not in body
        assert "sk-" in body


async def test_a_secret_in_pieces_is_masked(aviary: Aviary) -> None:
    """In lists and notifications (`last`), events, the transcript, the search, exports; and the end
    of a log does not begin in the middle of one."""
    secret = "sk-ant-api03-" + "a1b2c3d4" * 6
    texts = [f"{before} {secret} and more" for before in ("x" * 160, "the key is", "x" * 380)]
    turns = [[{"text": text, "chunks": len(text) // 5, "every": 0.04}] for text in texts]
    bird = aviary.hatch({"turns": turns})
    for _ in turns:
        await bird.turn("Go on.")
        assert bird.header().last
        assert secret[3:20] not in bird.header().last
    log = bird.directory / "agent.log"
    log.write_text(f"first {secret} line\nlast line\n")
    daemon = await asyncio.to_thread(serve, Path(aviary.home))

    def shown(path: str) -> str:
        answer = daemon.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.body.decode()

    try:
        place = f"/api/sessions/{bird.id}"
        forms = [f"/export?format={form}" for form in ("md", "jsonl", "html")]
        for path in ("", "/events", "/document", "/recap", *forms, "/logs/agent"):
            assert not any(secret[at:] in shown(place + path) for at in (9, 13, 30)), path
        updates = [event["update"] for event in json.loads(shown(f"{place}/events"))["events"]]
        said = [each["content"]["text"] for each in updates if "content" in each]
        assert len(said) > 3 * len(texts), "in pieces"
        assert "".join(said).count("sk-•••") == len(texts)
        assert secret[3:] not in "".join(said)
        assert shown(f"{place}/logs/agent?bytes=60") == "last line\n"
        hits = await asyncio.to_thread(
            awaited, lambda: json.loads(shown("/api/search?q=more"))["hits"]
        )
        assert secret[13:30] not in json.dumps(hits)
    finally:
        lifecycle.stop(aviary.home)


def test_read_only_shows_and_lets_in_but_changes_nothing(serving: Callable[..., Served]) -> None:
    daemon = serving(read_only=True)
    answer = daemon.own("POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp"})
    assert (answer.status, answer.json()["error"]) == (403, "read_only")
    assert daemon.own("GET", "/api/sessions").status == 200


def test_another_page_can_be_allowed_by_name(serving: Callable[..., Served]) -> None:
    daemon = serving(allowed_origins=("https://dash.example",), allowed_hosts=("box.lan",))
    port = daemon.netloc.rpartition(":")[2]
    for more in ({"Origin": "https://dash.example"}, {"Host": f"box.lan:{port}"}):
        assert daemon.ask("GET", "/api/about", **more).status == 200


def test_behind_a_proxy_only_its_names_are_answered(serving: Callable[..., Served]) -> None:
    daemon = serving(behind_proxy=True, allowed_hosts=("rookery.example",))
    link = daemon.own("POST", "/api/devices/link", {}).json()["link"]
    assert daemon.ask("GET", "/login", token="").status == 421
    answer = daemon.ask("GET", "/login", token="", Host="rookery.example")
    assert answer.status == 200
    assert "code=" in link


def test_devices_survive_the_daemon_and_two_writers(home: Path) -> None:
    one, other = Devices(str(home)), Devices(str(home))
    first, token = one.add("phone")
    second, _ = other.add("laptop\x1b[31m\n")
    assert [device.name for device in one.all()] == ["phone", "laptop [31m"]
    assert Devices(str(home)).holder(token) == first
    assert other.revoke(first.id)
    assert one.holder(token) is None
    assert not one.revoke(first.id)
    assert [device.id for device in Devices(str(home)).all()] == [second.id]


def test_a_daemon_of_another_home_knows_nothing_of_this_token(
    daemon: Served, tmp_path: Path
) -> None:
    other: dict[str, Any] = lifecycle.start(str(tmp_path / "other"), Options(port=0))
    try:
        there = Served(tmp_path / "other", other)
        assert there.ask("GET", "/api/about", token=daemon.token).status == 401
    finally:
        lifecycle.stop(str(tmp_path / "other"))
    assert os.path.exists(daemon.record["socket"])
