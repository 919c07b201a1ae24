"""Browsers prove their key, tab by tab; what they send lets nobody else in."""

import asyncio
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from rookery.daemon.access import p256, tabs
from rookery.daemon.access.devices import Devices
from rookery.daemon.access.gate import PEER, Gate, Message, Receive, Scope, Send
from rookery.daemon.access.peers import Peer
from rookery.daemon.access.recognition import SUBPROTOCOL
from rookery.daemon.access.tabs import Tabs
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle
from tests.daemon.browser import Browser, Key
from tests.daemon.handshake import upgrade
from tests.daemon.served import PATIENCE, Served, awaited


@asynccontextmanager
async def stream(served: Served, token: str) -> AsyncIterator[ClientConnection]:
    protocols = [SUBPROTOCOL, token]
    address = f"ws://{served.netloc}/api/stream"
    async with connect(address, subprotocols=protocols) as link:  # type: ignore[arg-type]
        assert link.subprotocol == SUBPROTOCOL
        yield link


# --- the curve -----------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 511))
def test_a_signature_is_right_or_not_whatever_was_signed(message: bytes, bit: int) -> None:
    key = Key()
    signed = key.sign(message)
    assert p256.is_key(key.public)
    assert p256.verifies(key.public, signed, message)
    assert not p256.verifies(key.public, signed, message + b"x")
    assert not p256.verifies(Key().public, signed, message)
    bent = (int.from_bytes(signed) ^ 1 << bit).to_bytes(64)
    assert not p256.verifies(key.public, bent, message)


@pytest.mark.parametrize(
    "signature",
    [b"", b"\0" * 64, b"\xff" * 64, p256.N.to_bytes(32) * 2, b"\0" * 31 + b"\1" + b"\0" * 32],
)
def test_numbers_that_are_no_signature_are_refused(signature: bytes) -> None:
    assert not p256.verifies(Key().public, signature, b"")


def test_what_is_not_on_the_curve_is_no_key() -> None:
    good = Key().public
    zero, far = b"\4" + bytes(64), b"\4" + p256.P.to_bytes(32) + good[33:]
    for bad in (b"", good[:-1], b"\2" + good[1:], good[:-1] + bytes([good[-1] ^ 1]), zero, far):
        assert not p256.is_key(bad)


# --- proving -------------------------------------------------------------------------------------


def test_a_browser_proves_its_key_and_gets_a_token_for_its_tab(served: Served) -> None:
    browser = Browser(served)
    token = browser.token()
    about = served.ask("GET", "/api/about", token=token)
    assert about.json()["device"] == browser.device
    shown = {each["id"]: each for each in served.own("GET", "/api/devices").json()}
    assert shown[browser.device]["kind"] == "browser"


def test_no_proof_is_good_twice_nor_another_keys(served: Served) -> None:
    browser, other = Browser(served), Browser(served)
    challenge = browser.challenge()
    assert browser.prove(challenge).status == 200
    assert browser.prove(challenge).status == 401
    challenge = browser.challenge()
    assert browser.prove(challenge, other.key.answer(challenge)).status == 401
    assert browser.prove(challenge).status == 401, "a challenge is good once, whatever came of it"
    forged = f"{challenge[:-1]}{'0' if challenge[-1] != '0' else '1'}"
    for made_up in (forged, "0.0", "", "...", "f" * 199):
        assert browser.prove(made_up).status == 401
    served.own("DELETE", f"/api/devices/{other.device}")
    answer = other.prove(other.challenge())
    assert (answer.status, answer.json()["error"]) == (401, "unknown_device")
    assert "www-authenticate" not in answer.headers, "there is nothing to sign any more"


def test_a_challenge_ends_after_a_minute() -> None:
    made, key = Tabs(lambda *_: None), Key()
    public = key.public.hex()
    challenge = made.challenge(1000.0)
    assert made.accepts(public, challenge, key.answer(challenge), 1059.0)
    challenge = made.challenge(1000.0)
    assert not made.accepts(public, challenge, key.answer(challenge), 1060.1)
    other = Tabs(lambda *_: None).challenge(1000.0)
    assert not made.accepts(public, other, key.answer(other), 1000.0), "of an earlier daemon"


def test_only_a_point_of_the_curve_is_taken_as_a_key(served: Served) -> None:
    code = served.own("POST", "/api/devices/link", {}).json()["link"].rpartition("=")[2]
    for key in ("04" + "0" * 128, "x", "04" * 65):
        answer = served.log_in(code=code, key=key)
        assert (answer.status, answer.json()["error"]) == (422, "bad_key")
    assert served.log_in(code=code, key=Key().public.hex()).status == 200, "the code is still good"


# --- the life of a token -------------------------------------------------------------------------


async def test_a_tabs_token_ends_with_its_stream(served: Served) -> None:
    browser = await asyncio.to_thread(Browser, served)
    token = await asyncio.to_thread(browser.token)

    def status() -> int:
        return served.ask("GET", "/api/about", token=token).status

    async with stream(served, token) as link:
        await link.send(json.dumps({"subscribe": {"topic": "fleet"}}))
        assert "snapshot" in json.loads(await link.recv())
        assert await asyncio.to_thread(status) == 200
    assert await asyncio.to_thread(awaited, lambda: status() == 401)
    assert upgrade(served.netloc, "/api/stream", Authorization=f"Bearer {token}").status == 401


async def test_a_revoked_browsers_tabs_are_out_at_once(served: Served) -> None:
    browser = await asyncio.to_thread(Browser, served)
    token = await asyncio.to_thread(browser.token)
    async with stream(served, token) as link:
        await asyncio.to_thread(served.own, "DELETE", f"/api/devices/{browser.device}")
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(link.recv(), PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
    assert served.ask("GET", "/api/about", token=token).status == 401


async def test_a_token_that_no_stream_holds_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "UNHELD_SECONDS", 0.01)
    ended: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    made = Tabs(lambda *which: ended.put_nowait(which))
    tab = made.open("d1")
    assert made.find(tab.token) is tab
    assert await asyncio.wait_for(ended.get(), PATIENCE) == ("d1", tab.token)
    assert made.find(tab.token) is None


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    """As a daemon has one."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()),
        server.accept()[0] as made,
    ):
        yield made


async def test_a_slow_download_outlives_its_tabs_token_and_a_stream_does_not(
    home: Path, connection: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs, "UNHELD_SECONDS", 0.01)
    devices, key = Devices(str(home)), Key()
    device = devices.add_browser("phone", "192.168.1.7", key.public)
    over = asyncio.Event()
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await over.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    gate = Gate(app, Options(), devices, "")

    def ask(path: str, authorization: str) -> asyncio.Task[None]:
        headers = {"host": "127.0.0.1", "authorization": authorization}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        peer = Peer(connection, str(home), controls=False)
        scope = {"type": "http", "method": "GET", "path": path, "headers": raw, PEER: peer}
        return asyncio.create_task(gate(scope, receive, send))

    challenge = devices.tabs.challenge(time.monotonic())
    proof = f"Rookery {device.id} {challenge} {key.answer(challenge)}"
    download = ask("/api/sessions/s1/export", proof)
    await asyncio.sleep(0)
    (token,) = devices.tabs._open
    events = ask("/api/events", f"Bearer {token}")
    await asyncio.wait_for(events, PATIENCE)
    assert [each["status"] for each in sent if "status" in each] == [401]
    over.set()
    await asyncio.wait_for(download, PATIENCE)
    assert [each["status"] for each in sent if "status" in each] == [401, 200]


IMPATIENT = """
import sys
from rookery.daemon.access import tabs
tabs.PROOF_SECONDS, tabs.CHALLENGE_SECONDS = 0.2, float(sys.argv.pop(1))
from rookery.daemon.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def impatient(
    serving: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Served]:
    """A daemon that wants a stream's proof again soon."""

    def start(within: float) -> Served:
        def argv(home: str, options: int, *, background: bool) -> list[str]:
            given = ["--home", home, "--options", str(options), "--background"]
            return [sys.executable, "-P", "-c", IMPATIENT, str(within), *given]

        monkeypatch.setattr(lifecycle, "_argv", argv)
        return serving()

    return start


async def test_a_stream_goes_on_while_its_key_is_there(impatient: Callable[..., Served]) -> None:
    served = await asyncio.to_thread(impatient, 60.0)
    browser = await asyncio.to_thread(Browser, served)
    async with stream(served, await asyncio.to_thread(browser.token)) as link:
        for _ in range(3):
            challenge = json.loads(await link.recv())["prove"]["challenge"]
            signed = browser.key.answer(challenge)
            await link.send(json.dumps({"proof": {"signature": signed}}))
        await link.recv()
        await link.send(json.dumps({"proof": {"signature": signed}}))  # of an earlier challenge
        await asyncio.wait_for(link.wait_closed(), PATIENCE)


async def test_a_stream_without_its_key_ends(impatient: Callable[..., Served]) -> None:
    """A script that helped somebody elsewhere to open one is gone with its page."""
    served = await asyncio.to_thread(impatient, 3.0)
    browser = await asyncio.to_thread(Browser, served)
    async with stream(served, await asyncio.to_thread(browser.token)) as link:
        await asyncio.wait_for(link.wait_closed(), PATIENCE)


# --- senders whose descent cannot be known ---


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("behind_proxy", [False, True], ids=["direct", "behind a proxy"])
def test_another_users_process_changes_something_only_with_a_browsers_key(
    serving: Callable[..., Served], behind_proxy: bool
) -> None:
    """An agent that became another user is one; so is a container's. A declared proxy is none."""
    names = {"allowed_hosts": ("127.0.0.1",), "behind_proxy": True} if behind_proxy else {}
    served = serving(**names)
    browser = Browser(served)

    def status(method: str, path: str, token: str, *more: str) -> str:
        words = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method, *more]
        words += ["-H", f"Authorization: Bearer {token}", served.address + path]
        said = subprocess.run(words, user=65534, capture_output=True, text=True, check=True)
        return said.stdout

    rename = ("-H", "Content-Type: application/json", "-d", '{"title": "new"}')
    place = f"/api/sessions/{served.create()}"
    assert status("GET", place, served.token) == "200"
    assert status("PATCH", place, served.token, *rename) == ("200" if behind_proxy else "403")
    assert status("PATCH", place, browser.token(), *rename) == "200"
    assert served.ask("PATCH", place, {"title": "mine"}).status == 200


# --- cookies -------------------------------------------------------------------------------------


def earlier(home: Path, *rows: tuple[str, str]) -> None:
    """Devices as the builds before wrote them: names and tokens."""
    listed = [
        {"id": f"d{at}", "name": name, "hash": hashlib.sha256(token.encode()).hexdigest()}
        | {"created": 1, "used": int(time.time() * 1000), "address": ""}
        for at, (name, token) in enumerate(rows)
    ]
    place = home / "daemon"
    place.mkdir(exist_ok=True)
    (place / "devices.json").write_text(json.dumps({"devices": listed}))


def test_a_cookie_of_an_earlier_build_opens_nothing(
    home: Path, serving: Callable[..., Served]
) -> None:
    """Neither as a cookie nor, for whoever was sent it, as a token. Programs keep theirs."""
    browser, lynx, program = (f"rk_{name * 6}" for name in ("browser", "lynx-one", "program"))
    earlier(home, ("Mozilla/5.0 (X11)", browser), ("Lynx/2.9", lynx), ("ci", program))
    served = serving()
    assert served.ask("GET", "/api/about", token=browser).status == 401
    assert served.ask("GET", "/api/about", token=program).status == 200
    for token in (browser, lynx):
        answer = served.ask("GET", "/api/about", token="", Cookie=f"a=b; rookery={token}")
        assert (answer.status, answer.json()["error"]) == (401, "no_token")
        assert served.ask("GET", "/api/about", token=token).status == 401
    page = served.ask("GET", "/login", token="", Cookie=f"rookery={browser}", Accept="text/html")
    assert "Rookery was updated" in page.body.decode()
    assert 'rookery=""; expires=' in page.headers["set-cookie"]
    assert "Rookery was updated" not in served.ask("GET", "/login", token="").body.decode()
    assert [each.name for each in Devices(served.home).all()] == ["ci"]


def test_what_devices_are_is_in_a_file_that_earlier_builds_do_not_read(home: Path) -> None:
    earlier(home, ("ci", "rk_" + "program" * 6))
    devices = Devices(str(home))
    devices.add_browser("tablet", "", Key().public)
    assert sorted(path.name for path in (home / "daemon").glob("*.json")) == ["access.json"]
    assert [each.name for each in Devices(str(home)).all()] == ["ci", "tablet"]


@pytest.mark.parametrize("path", ["/", "/api/stream"])
def test_a_full_jar_of_cookies_keeps_nobody_out(served: Served, path: str) -> None:
    jar = "; ".join(f"c{number}={'x' * 4080}" for number in range(180))
    headers = {"Authorization": f"Bearer {served.token}", "Cookie": jar}
    if path == "/":
        assert served.ask("GET", path, token="", **headers).status == 200
    else:
        assert upgrade(served.netloc, path, **headers).status == 101


# --- what a browser sees before it is known -----------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/inbox", "/sessions/x", "/api/docs", "/nowhere"])
def test_a_page_that_nobody_proved_tells_nothing(served: Served, path: str) -> None:
    accept = "text/html,application/xhtml+xml,*/*;q=0.8"
    shells = {
        served.ask("GET", each, token="", Accept=accept).body.split(b"challenge", 1)[0]
        for each in ("/", path)
    }
    assert len(shells) == 1, "it is the same everywhere"
    answer = served.ask("GET", path, token="", Accept=accept)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "needs JavaScript" in answer.body.decode()
    fetched = served.ask("GET", path, token="", Accept=accept, Sec_Fetch_Mode="cors")
    assert fetched.status == 401
    assert served.ask("GET", path, token="rt_old", Accept=accept).status == 401


def test_a_form_that_was_sent_without_javascript_says_what_is_lacking(served: Served) -> None:
    code = served.own("POST", "/api/devices/link", {}).json()["link"].rpartition("=")[2]
    form = {"Content_Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
    answer = served.ask("POST", "/login", f"code={code}".encode(), token="", **form)
    assert answer.status == 400
    assert "needs JavaScript" in answer.body.decode()
    assert served.log_in(code=code).status == 200, "the link is still good"
