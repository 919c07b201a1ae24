"""`web_fetch` and `web_search` against servers of all kinds: what they read, what they refuse, and
where they end."""

import gzip
import ipaddress
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rookery.agent.web import addresses, connection, page, search
from rookery.agent.web.connection import Elsewhere, Fetch, Response
from rookery.agent.web.failure import Failure
from rookery.agent.web.markdown import markdown
from rookery.core.settings.web import BRAVE, SEARXNG, TAVILY, Web

HERE = "127.0.0.1"


class Site(BaseHTTPRequestHandler):
    """Each path is a function below; `asked` are the requests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        self.server.asked.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        name = self.path.partition("?")[0].strip("/").replace("/", "_") or "page"
        self.close_connection = True
        with suppress(OSError):  # who asked has left
            getattr(self, f"at_{name}")()

    do_POST = do_GET  # noqa: N815 (its name)

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, body: bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def at_page(self) -> None:
        self.answer("<title>Grüße</title><p>Hello <a href=/x>there</a>".encode())

    def at_json(self) -> None:
        self.answer(b'{"a": [1, 2]}', "application/json")

    def at_latin(self) -> None:
        self.answer(b"caf\xe9 na\xefve", "text/plain; charset=utf-8")

    def at_declared(self) -> None:
        self.answer(b'<meta charset="iso-8859-2"><p>\xb1\xe6', "text/html")

    def at_unknown(self) -> None:
        self.answer("größer".encode(), "text/plain; charset=x-nobody-knows")

    def at_binary(self) -> None:
        self.answer(b"\x7fELF\0\0\1\2" * 100, "text/plain")

    def at_image(self) -> None:
        self.answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "image/png")

    def at_untyped(self) -> None:
        self.answer(b"# plain text\n", "application/octet-stream")

    def at_gzip(self) -> None:
        self.answer(gzip.compress(b"packed text"), "text/plain", Content_Encoding="gzip")

    def at_deflate(self) -> None:
        packed = zlib.compressobj(wbits=-15)
        data = packed.compress(b"raw deflate") + packed.flush()
        self.answer(data, "text/plain", Content_Encoding="deflate")

    def at_brotli(self) -> None:
        self.answer(b"\x0b\x02\x80hello\x03", "text/plain", Content_Encoding="br")

    def at_bomb(self) -> None:
        """10 GB, if anybody unpacks it."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        packed = zlib.compressobj(9, wbits=31)
        zeros = bytes(10_000_000).replace(b"\0", b"a")
        for _ in range(1000):
            self.wfile.write(packed.compress(zeros) + packed.flush(zlib.Z_SYNC_FLUSH))

    def at_endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        while True:
            self.wfile.write(b"on and on\n" * 1000)

    def at_drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        while True:
            self.wfile.write(b".")
            self.wfile.flush()
            time.sleep(0.02)

    def at_slow_head(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10**6):
            self.wfile.write(b"X")
            self.wfile.flush()
            time.sleep(0.02)

    def at_silent(self) -> None:
        time.sleep(60)

    def at_loop(self) -> None:
        self.redirect("/loop")

    def at_moved(self) -> None:
        self.redirect("/page")

    def at_away(self) -> None:
        self.redirect(self.path.partition("?")[2])

    def at_missing(self) -> None:
        self.send_error(404)

    def at_res_v1_web_search(self) -> None:
        row = {"title": "T", "url": "https://example.com/", "description": "about"}
        self.answer(json.dumps({"web": {"results": [row, {"title": "no address"}]}}).encode())

    def at_search(self) -> None:
        row = {"title": "T", "url": "https://example.com/", "content": "about"}
        self.answer(json.dumps({"results": [row] * 20}).encode())

    def at_missing_search(self) -> None:
        self.send_error(404)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    asked: list[Any]


@contextmanager
def serving(host: str = HERE) -> Iterator[Server]:
    server = Server((host, 0), Site)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@pytest.fixture
def at(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    server.asked.clear()
    return lambda path: f"http://{HERE}:{server.server_port}/{path}"


def fetched(url: str, seconds: float = 20.0) -> Response:
    return Fetch(f"{HERE}:*", seconds).get(url)


def read(url: str) -> str:
    return page.text_of(fetched(url))


# --- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("json", '{"a": [1, 2]}'),
        ("latin", "café naïve"),
        ("declared", "ąć"),
        ("unknown", "größer"),
        ("untyped", "# plain text\n"),
        ("gzip", "packed text"),
        ("deflate", "raw deflate"),
    ],
)
def test_texts_are_read_as_they_are(at: Callable[[str], str], path: str, text: str) -> None:
    """Whatever their server says of their encoding."""
    assert read(at(path)) == text


def test_a_page_is_read_as_markdown(at: Callable[[str], str]) -> None:
    assert read(at("moved")) == f"# Grüße\n\nHello [there]({at('x')})"


def test_markdown_has_what_a_reader_sees() -> None:
    html = """<html><head><title>T</title><style>x</style></head><body><nav>menu</nav>
        <h2>Head</h2><p>A <b>bold</b><br>line<ul><li>one<li>two<ol><li>deep</ol></ul>
        <pre class="language-py">a\n  b</pre><table><tr><th>k<th>v<tr><td>1<td>2|3</table>
        <p hidden>secret</p><p style="display:none">secret</p><script>secret</script>&lt;end&gt;"""
    assert markdown(html, "https://example.com/") == (
        "# T\n\n## Head\n\nA **bold**\nline\n\n- one\n- two\n  1. deep\n\n```py\na\n  b\n```\n\n"
        "| k | v |\n| --- | --- |\n| 1 | 2\\|3 |\n\n<end>"
    )


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "<![CDATA[", "<div>", "<a href='", "</", "<", "<td>", "<script>", "&"]
)
def test_no_page_takes_long_to_read(piece: str) -> None:
    """Python's own parser takes minutes for the first one."""
    assert len(markdown(piece * 60_000, "https://example.com/")) < 1_000_000


# --- what is refused, and where it ends ----------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("binary", "is not text, although it is sent as text/plain"),
        ("image", "is image/png (108 bytes), which is not read here"),
        ("brotli", "compressed in an unknown way (br)"),
        ("loop", "redirects more than 5 times"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(
    at: Callable[[str], str], path: str, words: str
) -> None:
    with pytest.raises(Failure) as refused:
        read(at(path))
    assert words in str(refused.value)


@pytest.mark.parametrize("path", ["endless", "bomb"])
def test_a_body_is_read_up_to_a_limit(at: Callable[[str], str], path: str) -> None:
    found = fetched(at(path))
    assert found.cut
    assert len(found.body) <= connection.MAX_BYTES + connection.PIECE
    assert page.text_of(found)


@pytest.mark.parametrize("path", ["silent", "slow/head"])
def test_a_server_that_does_not_answer_is_left(at: Callable[[str], str], path: str) -> None:
    with pytest.raises(Failure, match="did not answer within 1 seconds"):
        fetched(at(path), 1.0)


def test_of_a_slow_page_what_came_is_read(at: Callable[[str], str]) -> None:
    found = fetched(at("drip"), 1.0)
    assert found.cut
    assert set(found.body) == {ord(".")}


def test_a_fetch_is_stopped_from_another_thread(at: Callable[[str], str]) -> None:
    fetch = Fetch(f"{HERE}:*", 60.0)
    threading.Timer(0.3, fetch.stop).start()
    with pytest.raises(Failure):
        fetch.get(at("silent"))


# --- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "localhost"),
        *(
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
        ),
        *("169.254.169.254", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]", "[fe80::1]"),
        *("10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "224.0.0.1", "255.255.255.255"),
    ],
)
def test_this_machine_and_private_networks_are_not_fetched(
    at: Callable[[str], str], server: Server, host: str
) -> None:
    """However the address is written."""
    with pytest.raises(Failure, match="on this machine or on a private network"):
        Fetch().get(f"http://{host}:{server.server_port}/page")
    assert server.asked == []


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_other_addresses_are_public(address: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "Only http:// and https://"),
        ("ftp://example.com/", "Only http:// and https://"),
        ("gopher://example.com/", "Only http:// and https://"),
        ("http://user:pw@example.com/", "user name or password"),
        ("http://example.com@127.0.0.1/", "user name or password"),
        ("http://example.com:22/", "Port 22"),
        ("http://example.com:99999/", "not a valid address"),
        ("http:///path", "names no host"),
        ("http://a b/", "contains spaces"),
        ("http://example.com\\@127.0.0.1/", "contains spaces or control"),
        ("http://exa\r\nmple.com/", "contains spaces or control"),
        ("http://[::1/", "not a valid address"),
    ],
)
def test_addresses_that_are_none_of_the_webs_are_refused(url: str, words: str) -> None:
    with pytest.raises(Failure) as refused:
        addresses.parse(url)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "there",
    ["http://169.254.169.254/latest/", "http://[::1]/", "http://10.0.0.1/", "http://0x7f.1/"],
)
def test_a_redirect_to_a_private_address_is_not_followed(
    at: Callable[[str], str], there: str
) -> None:
    with pytest.raises(Failure, match="private network"):
        fetched(at(f"away?{there}"))


def test_a_redirect_to_another_host_is_told_and_not_followed(at: Callable[[str], str]) -> None:
    """Nobody was asked about that one."""
    with pytest.raises(Elsewhere) as led:
        fetched(at("away?http://example.com/"))
    assert led.value.url == "http://example.com/"


def test_a_redirect_to_another_scheme_is_refused(at: Callable[[str], str]) -> None:
    with pytest.raises(Failure, match="Only http"):
        fetched(at("away?file:///etc/passwd"))


def test_a_name_is_connected_to_the_address_that_was_checked(
    at: Callable[[str], str], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that answers differently the second time changes nothing."""
    asked: list[str] = []

    def rebinding(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        place = "93.184.216.34" if len(asked) == 1 else HERE
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port))]

    reached: list[str] = []

    def connect(place: tuple[str, int], timeout: float = 0) -> socket.socket:
        reached.append(place[0])
        raise OSError("not in a test")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(Failure):
        Fetch().get("http://rebind.example/")
    assert (asked, reached) == (["rebind.example"], ["93.184.216.34"])


@pytest.mark.parametrize(
    ("allow", "does"),
    [("", False), ("localhost", False), (HERE, True), ("127.*", True), (f"{HERE}:1", False)],
)
def test_the_user_allows_private_hosts(at: Callable[[str], str], allow: str, does: bool) -> None:
    if does:
        assert Fetch(allow).get(at("json")).status == 200
    else:
        with pytest.raises(Failure, match=r"rookery config set web\.allow"):
            Fetch(allow).get(at("json"))


# --- through a proxy -----------------------------------------------------------------------------


@contextmanager
def proxy(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Takes one CONNECT, and answers for the host that is named."""
    heads: list[bytes] = []
    with socket.create_server((HERE, 0)) as listener:

        def serve() -> None:
            there, _ = listener.accept()
            with there:
                heads.append(there.recv(4096))
                there.sendall(answer)
                if answer.startswith(b"HTTP/1.1 200"):
                    there.recv(4096)
                    there.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nproxied")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], heads
        thread.join()


def test_a_sandboxs_proxy_is_used_and_resolves_the_name(
    at: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy(b"HTTP/1.1 200 Connection established\r\n\r\n") as (port, heads):
        monkeypatch.setenv("HTTP_PROXY", f"http://{HERE}:{port}")
        assert Fetch().get("http://only.the-proxy.knows/x").body == b"proxied"
    assert heads[0].startswith(b"CONNECT only.the-proxy.knows:80 ")


def test_what_the_proxy_refuses_is_told(
    at: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as (port, _):
        monkeypatch.setenv("HTTP_PROXY", f"http://{HERE}:{port}")
        with pytest.raises(Failure, match=r"The proxy does not connect .* sandbox\.allow"):
            Fetch().get("http://unlisted.example/")


def test_no_proxy_leads_to_private_addresses(
    at: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://{HERE}:9")
    with pytest.raises(Failure, match="private network"):
        Fetch().get("http://169.254.169.254/")


# --- search --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "asked", "header"),
    [
        (BRAVE, "GET /res/v1/web/search?count=10&q=two+words", ("X-Subscription-Token", "key-1")),
        (TAVILY, "POST /search", ("Authorization", "Bearer key-1")),
        (SEARXNG, "GET /search?format=json&q=two+words", None),
    ],
)
def test_a_search_by_each_provider(
    at: Callable[[str], str],
    server: Server,
    provider: str,
    asked: str,
    header: tuple[str, str] | None,
) -> None:
    settings = Web(search=provider, search_key="key-1", search_url=at(""))
    found = search.search(Fetch("*"), settings, "two words")
    assert found[0] == search.Result("T", "https://example.com/", "about")
    assert len(found) <= search.MAX_RESULTS
    [(method, path, headers, body)] = server.asked
    assert f"{method} {path}" == asked
    if header:
        assert headers[header[0]] == header[1]
    else:
        assert "key-1" not in str(headers)
    assert provider != TAVILY or json.loads(body)["query"] == "two words"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Web(), "No search provider is set"),
        (Web(search=BRAVE), "web.search_key"),
        (Web(search=SEARXNG), "web.search_url"),
    ],
)
def test_a_search_without_its_settings_says_what_is_missing(settings: Web, words: str) -> None:
    with pytest.raises(Failure, match=words):
        search.search(Fetch("*"), settings, "x")
    assert not settings.searches


def test_a_provider_that_answers_otherwise_is_told(at: Callable[[str], str]) -> None:
    settings = Web(search=SEARXNG, search_url=at("missing"))
    with pytest.raises(Failure, match="answered with 404"):
        search.search(Fetch("*"), settings, "x")
