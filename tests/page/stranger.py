"""An agent's own server on another port of the daemon's host: it keeps what browsers send to it,
and answers with all that could harm a neighbour."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

COOKIES = [
    "rookery=; Max-Age=0; Path=/",
    "rookery=rk_of-a-stranger; Path=/; Max-Age=99999",
]
FILL = """() => { for (let at = 0; at < 200; at++)
  document.cookie = `c${at}=${"x".repeat(4000)}; path=/; max-age=99999`; }"""
CLEAR = '"cache", "cookies", "storage"'
PAGE = b"""<!doctype html><meta charset=utf-8><title>A stranger</title><img src=/picture>
<a id=file href=/file download>file</a><script src=/script></script>"""
SCRIPT = b"""
fetch("/fetched", {credentials: "include"});
new WebSocket(`ws://${location.host}/websocket`);
new EventSource("/events", {withCredentials: true});
navigator.sendBeacon("/beacon", "x");
"""


class Taken(NamedTuple):
    """A request."""

    path: str
    headers: dict[str, str]


class Stranger:
    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self.sets: list[tuple[str, str]] = []
        """Headers of its answers."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def paths(self) -> set[str]:
        return {each.path for each in self.taken}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stranger = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stranger.taken.append(Taken(self.path, dict(self.headers)))
                kind, body = {
                    "/": ("text/html", PAGE),
                    "/script": ("text/javascript", SCRIPT),
                    "/events": ("text/event-stream", b"data: x\n\n"),
                }.get(self.path, ("text/plain", b"x"))
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in stranger.sets:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_said: Any) -> None:
                """To nobody."""

        return Handler


@contextmanager
def stranger() -> Iterator[Stranger]:
    made = Stranger()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()
