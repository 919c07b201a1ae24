"""Every route of the daemon, from a table that is made from the application: one that is added
tomorrow is tried, too."""

import gzip
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.routing import BaseRoute, Route, WebSocketRoute

from rookery import daemon
from rookery.daemon import assets
from rookery.daemon.access.gate import HEALTH, LOGIN, PUBLIC, READING, is_public
from rookery.daemon.app import build_api
from tests.conftest import temporary_home
from tests.daemon.handshake import upgrade
from tests.daemon.served import Answer, Served, serve

WEBSOCKET = "WEBSOCKET"
NAMED = re.compile(r'"(?:\./)?([\w-]+\.(?:css|js|svg))"')
"""A file of the page's own."""


class Address(NamedTuple):
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@cache
def addresses() -> list[Address]:
    """All that the application answers to."""
    return sorted(found(build_api().routes, _filled))


def found(routes: Iterable[BaseRoute], filled: Callable[[str], str]) -> Iterator[Address]:
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            yield from found(included.routes, filled)
        elif isinstance(route, WebSocketRoute):
            yield Address(WEBSOCKET, filled(route.path))
        else:
            assert isinstance(route, Route), f"{route}: what kind of route is this?"
            for method in route.methods or ():
                yield Address(method, filled(route.path))


def _filled(path: str) -> str:
    return re.sub(r"{\w+}", "x", path)


@pytest.fixture(scope="module")
def read_only() -> Iterator[Served]:
    """Of a home of its own, beside the daemon of the others."""
    with pytest.MonkeyPatch.context() as patch:
        for home in temporary_home(patch):
            served = serve(home, read_only=True)
            yield served
            served.stop()


def ask(served: Served, each: Address, *, token: str | None = None, **headers: str) -> Answer:
    if each.method == WEBSOCKET:
        token = served.token if token is None else token
        named = {"Authorization": f"Bearer {token}"} if token else {}
        return upgrade(served.netloc, each.path, **named, **headers)
    body = {} if each.method not in READING else None
    return served.ask(each.method, each.path, body, token=token, **headers)


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json()["error"]


EVERY = pytest.mark.parametrize("each", addresses(), ids=str)
GUARDED = pytest.mark.parametrize(
    "each", [each for each in addresses() if not is_public(each.path)], ids=str
)


def test_little_can_be_read_without_a_token() -> None:
    icons = {"/favicon.svg", "/apple-touch-icon.png", "/icon-512.png", "/manifest.webmanifest"}
    assert {"/healthz", "/login", "/offline", "/style.css", "/sw.js"} | icons == PUBLIC
    assert is_public("/assets/x/main.js")
    assert not is_public("/assets")


def test_every_file_that_the_page_names_is_there() -> None:
    """A screen that names another answers with an error, and only once it is opened."""
    place = Path(daemon.__file__).parent
    sources = [*place.rglob("*.py"), *place.rglob("*.js")]
    named = {name for each in sources for name in NAMED.findall(each.read_text())}
    assert {"race.js", "dialogs.css", "settings.css"} <= named
    assert named <= set(assets.files())


@pytest.mark.parametrize("name", ["main.js", "base.css", "style.css"])
def test_an_asset_is_compressed_for_browsers_that_take_it_so(read_only: Served, name: str) -> None:
    path = assets.address(name)
    plain = read_only.ask("GET", path, token="")
    packed = read_only.ask("GET", path, token="", Accept_Encoding="br, gzip, zstd")
    assert plain.body == gzip.decompress(packed.body) == assets.files()[name]
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    refused = read_only.ask("GET", path, token="", Accept_Encoding="gzip;q=0")
    assert refused.body == plain.body


def test_icons_are_files_of_the_sizes_that_the_manifest_names(read_only: Served) -> None:
    for path, side in (("/apple-touch-icon.png", 180), ("/icon-512.png", 512)):
        answer = read_only.ask("GET", path, token="", Accept_Encoding="gzip")
        assert answer.headers["content-type"] == "image/png"
        assert struct.unpack("!II", answer.body[16:24]) == (side, side)


def test_the_table_of_routes_has_the_known_ones() -> None:
    known = {str(each) for each in addresses()}
    assert {"GET /api/sessions", "POST /api/sessions", "WEBSOCKET /api/stream"} <= known
    assert {"DELETE /api/sessions/x", "GET /api/openapi.json", "POST /login"} <= known


@GUARDED
def test_every_route_needs_a_token(read_only: Served, each: Address) -> None:
    answer = ask(read_only, each, token="")
    if each.method == "HEAD":
        assert answer.status == 401
        return
    assert error(answer) == (401, "no_token")
    assert answer.headers["www-authenticate"] == "Bearer"


@EVERY
def test_every_route_refuses_cross_site_requests(read_only: Served, each: Address) -> None:
    answer = ask(read_only, each, Origin="https://evil.example")
    assert answer.status == 403
    if each.method != "HEAD":
        assert answer.json()["error"] == "foreign_origin"


@EVERY
def test_every_route_refuses_another_host_name(read_only: Served, each: Address) -> None:
    """No DNS rebinding."""
    answer = ask(read_only, each, Host="evil.example")
    if each.path == HEALTH:
        assert (answer.status, answer.body[:2]) == (200, b"ok"[: len(answer.body)])
        return
    assert answer.status == 421
    if each.method != "HEAD":
        assert answer.json()["error"] == "foreign_host"


@pytest.mark.parametrize(
    "each",
    [
        each
        for each in addresses()
        if (each.method == WEBSOCKET and each.path == "/acp")
        or (each.method not in (*READING, WEBSOCKET) and each.path != LOGIN)
    ],
    ids=str,
)
def test_a_read_only_daemon_refuses_every_write(read_only: Served, each: Address) -> None:
    assert error(ask(read_only, each)) == (403, "read_only")


@EVERY
def test_every_answer_forbids_framing_foreign_scripts_and_sniffing(
    read_only: Served, each: Address
) -> None:
    answer = ask(read_only, each, token="")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe-inline" not in answer.headers["content-security-policy"]


def test_a_method_that_is_not_allowed_is_told_all_that_are(served: Served) -> None:
    methods: dict[str, set[str]] = {}
    for each in addresses():
        if each.method != WEBSOCKET:
            methods.setdefault(each.path, set()).add(each.method)
    assert methods["/api/sessions"] == {"GET", "POST"}
    assert methods["/api/sessions/x"] == {"GET", "PATCH", "DELETE"}
    for path in ("/api/sessions", "/api/sessions/x", "/login", "/api/about"):
        answer = served.ask("TRACE", path)
        assert error(answer) == (405, "wrong_method")
        assert set(answer.headers["allow"].split(", ")) == methods[path], path


async def test_a_bug_is_answered_like_every_error() -> None:
    api, sent = build_api(), list[Any]()

    @api.get("/broken")
    def broken() -> None:
        raise RuntimeError("a bug")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/broken", "query_string": b""}
    with pytest.raises(RuntimeError):  # for the log
        await api({**scope, "headers": []}, receive, send)
    assert sent[0]["status"] == 500
    assert json.loads(sent[1]["body"])["error"] == "internal"
