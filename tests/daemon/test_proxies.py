"""Real proxies in front of a real daemon, configured as docs/proxy.md says: page, events,
WebSockets, uploads, log-in links."""

import asyncio
import base64
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from websockets.asyncio.client import connect

from tests.daemon.served import PATIENCE, Answer, Served, awaited
from tests.page.conftest import FLAGS, NAMES

DOCS = Path(__file__).parents[2] / "docs" / "proxy.md"
NAME = "box.example.org"
USER, PASSWORD = "ann", "open sesame"
KINDS = {"nginx": "www-data", "caddy": "caddy"}
"""Each proxy, and whom it runs as."""
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="a proxy runs as a user of its own"),
]


def documented(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


class Front:
    """Where the proxy listens, and requests to it."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.port = port
        self.netloc = f"{NAME}:{port}"
        self.tls = ssl.create_default_context(cafile=str(certificate))

    def ask(self, method: str, path: str, body: Any = None, *words: str) -> Answer:
        """By curl, which speaks HTTP/2."""
        given = ["--resolve", f"{self.netloc}:127.0.0.1", "-X", method, "-D", "-", *words]
        if body is not None:
            given += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
        said = subprocess.run(
            ["curl", "-sk", "--http2", *given, f"https://{self.netloc}{path}"],
            input=None if body is None else json.dumps(body).encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        head, _, rest = said.stdout.partition(b"\r\n\r\n")
        if head.split()[1] == b"100":
            head, _, rest = rest.partition(b"\r\n\r\n")
        return Answer(int(head.split()[1]), {"": head.decode()}, rest)


@contextmanager
def proxy(kind: str, place: Path, daemon: int, *, login: bool) -> Iterator[Front]:
    """The documented one, at a port of its own."""
    if shutil.which(kind) is None:
        pytest.skip(f"{kind} is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place.mkdir()
    for each in (place, *place.parents):
        if each.owner() == "root" and each != Path("/"):
            each.chmod(each.stat().st_mode | 0o055)
    key, certificate = place / "key.pem", place / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    make += ["-subj", "/CN=x", "-addext", f"subjectAltName=DNS:{NAME}"]
    make += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    key.chmod(0o644)
    start = nginx if kind == "nginx" else caddy
    argv = start(place, port, daemon, login=login)
    with (place / "output").open("wb") as output:
        process = subprocess.Popen(argv, stdout=output, stderr=output)
    try:
        awaited(lambda: process.poll() is not None or _listens(port))
        assert process.poll() is None, (place / "output").read_text()
        yield Front(port, certificate)
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


def nginx(place: Path, port: int, daemon: int, *, login: bool) -> list[str]:
    site = documented("nginx")
    for usual, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/ssl/box.example.org.pem", f"{place}/cert.pem"),
        ("/etc/ssl/box.example.org.key", f"{place}/key.pem"),
        ("127.0.0.1:7433", f"127.0.0.1:{daemon}"),
    ):
        assert usual in site
        site = site.replace(usual, here)
    if login:
        hashed = subprocess.run(
            ["openssl", "passwd", "-apr1", PASSWORD], capture_output=True, text=True, check=True
        ).stdout
        (place / "passwords").write_text(f"{USER}:{hashed}")
        words = documented("nginx-login").replace(
            "/etc/nginx/rookery.htpasswd", f"{place}/passwords"
        )
        site = site.replace("location / {", "location / {\n" + words)
    (place / "nginx.conf").write_text(
        f"daemon off; user www-data; pid {place}/pid; error_log {place}/errors;\n"
        f"events {{}}\nhttp {{ access_log off; client_body_temp_path {place}/body;\n{site}}}\n"
    )
    return ["nginx", "-p", str(place), "-c", str(place / "nginx.conf")]


def caddy(place: Path, port: int, daemon: int, *, login: bool) -> list[str]:
    site = documented("caddy").replace("127.0.0.1:7433", f"127.0.0.1:{daemon}")
    words = f"tls {place}/cert.pem {place}/key.pem\n"
    if login:
        hashed = subprocess.run(
            ["caddy", "hash-password", "--plaintext", PASSWORD],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        words += documented("caddy-login").replace("HASH", hashed)
    site = site.replace(f"{NAME} {{", f"{NAME}:{port} {{\n{words}")
    (place / "Caddyfile").write_text("{\nadmin off\nauto_https disable_redirects\n}\n" + site)
    home = place / "caddy-home"
    home.mkdir()
    shutil.chown(home, "caddy")
    run = ["caddy", "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")]
    return [
        "setpriv",
        "--reuid=caddy",
        "--regid=caddy",
        "--clear-groups",
        "env",
        f"HOME={home}",
        *run,
    ]


def begin(
    serving: Callable[..., Served], kind: str, place: Path, *, login: bool
) -> tuple[Served, Any]:
    """The daemon does not know the proxy's port before that is there, nor the proxy the daemon's:
    the daemon's name is without it."""
    options = {"auth": "none", "proxy_user": KINDS[kind]} if login else {}
    served = serving(behind_proxy=True, allowed_hosts=(NAME,), **options)
    port = int(served.netloc.rpartition(":")[2])
    return served, proxy(kind, place / kind, port, login=login)


async def said(front: Front, path: str, token: str, message: str) -> Any:
    """The first answer over a WebSocket."""
    headers = {"Authorization": f"Bearer {token}", "Origin": f"https://{front.netloc}"}
    async with (
        asyncio.timeout(PATIENCE),
        connect(
            f"wss://{front.netloc}{path}",
            host="127.0.0.1",
            port=front.port,
            ssl=front.tls,
            additional_headers=headers,
        ) as link,
    ):
        await link.send(message)
        return json.loads(await link.recv())


@pytest.mark.parametrize("kind", KINDS)
def test_everything_comes_through_the_documented_proxy(
    serving: Callable[..., Served], tmp_path: Path, kind: str
) -> None:
    served, front_of = begin(serving, kind, tmp_path, login=False)
    with front_of as front:
        link = served.own("POST", "/api/devices/link", {}).json()["link"]
        assert link.startswith(f"https://{NAME}/login?code=")
        page = front.ask("GET", "/login")
        assert (page.status, b"<html" in page.body) == (200, True)
        assert "HTTP/2" in page.headers[""]
        assert front.ask("GET", "/healthz").body == b"ok\n"
        (code,) = parse_qs(urlsplit(link).query)["code"]
        form = ["-d", f"code={code}", "-d", "name=curl"]
        token = front.ask("POST", "/login", None, *form).json()["token"]
        bearer = ["-H", f"Authorization: Bearer {token}"]
        assert front.ask("GET", "/metrics", None, *bearer).status == 200
        session = front.ask(
            "POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp"}, *bearer
        ).json()["id"]
        data = base64.b64encode(os.urandom(9 * 1024 * 1024)).decode()
        files = [{"name": f"{n}.bin", "data": data} for n in range(2)]
        sent = front.ask(
            "POST",
            f"/api/sessions/{session}/prompt",
            {"text": "Look at these.", "attachments": files},
            *bearer,
        )
        assert sent.status == 200, sent.body
        events(front, token)
        subscribe = json.dumps({"subscribe": {"topic": "fleet"}})
        assert "snapshot" in asyncio.run(said(front, "/api/stream", token, subscribe))
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
        initialize |= {"params": {"protocolVersion": 1}}
        answer = asyncio.run(said(front, "/acp", token, json.dumps(initialize)))
        assert answer["result"]["agentInfo"]["name"] == "rookery"
        served.own("POST", f"/api/sessions/{session}/kill", {})


def events(front: Front, token: str) -> None:
    """What is sent comes while the answer goes on."""
    with (
        socket.create_connection(("127.0.0.1", front.port), PATIENCE) as plain,
        front.tls.wrap_socket(plain, server_hostname=NAME) as link,
    ):
        request = f"GET /api/events?topic=fleet HTTP/1.1\r\nHost: {front.netloc}\r\n"
        link.sendall(f"{request}Authorization: Bearer {token}\r\n\r\n".encode())
        got = b""
        while b"event: snapshot" not in got:
            piece = link.recv(65536)
            assert piece, got
            got += piece


@pytest.mark.parametrize("kind", KINDS)
def test_the_proxys_login_is_enough_and_only_through_the_proxy(
    serving: Callable[..., Served], tmp_path: Path, kind: str
) -> None:
    served, front_of = begin(serving, kind, tmp_path, login=True)
    with front_of as front:
        assert front.ask("GET", "/api/about").status == 401
        login = ["-u", f"{USER}:{PASSWORD}"]
        assert front.ask("GET", "/api/about", None, *login).json()["auth"] == "none"
        made = front.ask("POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp"}, *login)
        assert made.status == 201, made.body
        stranger = subprocess.run(
            ["setpriv", "--reuid=4712", "--clear-groups", "curl", "-s", "-H", f"Host: {NAME}",
             f"{served.address}/api/about"],
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )  # fmt: skip
        assert json.loads(stranger.stdout)["error"] == "not_yours"


@pytest.mark.parametrize("kind", KINDS)
def test_a_browser_logs_in_by_the_link_and_gets_its_turn_live(
    serving: Callable[..., Served], tmp_path: Path, kind: str
) -> None:
    served, front_of = begin(serving, kind, tmp_path, login=False)
    with front_of as front, sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, NAMES)))
        rules = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, rules])
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.set_default_timeout(60_000)
        link = served.own("POST", "/api/devices/link", {}).json()["link"]
        page.goto(link.replace(NAME, front.netloc))
        page.get_by_role("button").first.click()
        page.wait_for_url(f"https://{front.netloc}/")
        session = served.own("POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp"}).json()["id"]
        page.goto(f"https://{front.netloc}/sessions/{session}")
        page.locator("#prompt, textarea").first.fill("Hello")
        page.keyboard.press("Enter")
        expect(page.locator("body")).to_contain_text("tour of Rookery", timeout=60_000)
        browser.close()
        served.own("POST", f"/api/sessions/{session}/kill", {})
