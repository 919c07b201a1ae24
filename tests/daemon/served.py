"""A real daemon of a home, and requests to it: by its address with a token, and by its own
socket."""

import http.client
import json
import os
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from rookery.client.daemon import local
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle
from rookery.processes import tree

PATIENCE = 120.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Served:
    """Get one from `serve`."""

    def __init__(self, home: Path, record: dict[str, Any]) -> None:
        self.home = str(home)
        self.record = record
        self.address: str = record["address"]
        self.netloc = urlsplit(self.address).netloc
        self._token = ""

    @property
    def token(self) -> str:
        """Of a device that logged in by a link; made at first use."""
        if not self._token:
            link = local.request(self.home, "POST", "/api/devices/link", {}).json()["link"]
            (code,) = parse_qs(urlsplit(link).query)["code"]
            self._token = self.log_in(code=code).json()["token"]
        return self._token

    def log_in(self, **form: str) -> Answer:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", "/login", urlencode(form).encode(), token="", **headers)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.netloc, timeout=PATIENCE)

    def ask(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str
    ) -> Answer:
        """By its address. `token`: None is a good one, "" none at all."""
        link = self.connection()
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        token = self.token if token is None else token
        if token:
            named["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            named.setdefault("Content-Type", "application/json")
        try:
            link.request(method, path, body, named)
            answer = link.getresponse()
            found = {key.lower(): value for key, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            link.close()

    def own(self, method: str, path: str, body: Any = None) -> local.Answer:
        """By its own socket, as the user's command line does."""
        return local.request(self.home, method, path, body)

    def create(self, **more: Any) -> str:
        answer = self.ask("POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp", **more})
        assert answer.status == 201, answer.body
        return str(answer.json()["id"])

    @property
    def process(self) -> tree.Process:
        return tree.Process(self.record["pid"], self.record["start"])

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        assert not tree.wait_gone([self.process], PATIENCE)

    def stop(self) -> None:
        lifecycle.stop(self.home)


def serve(home: Path, **options: Any) -> Served:
    return Served(home, lifecycle.start(str(home), Options(**{"port": 0, **options})))


def awaited(what: Any, within: float = PATIENCE) -> Any:
    """The first true value of a question that is asked again and again: nothing tells when a file
    or another process changes."""
    until = time.monotonic() + within
    while not (found := what()):
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.02)
    return found
