"""WebKitGTK's small browser, driven by its own WebDriver on a screen that nobody sees."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

PATIENCE = 120.0
PLACES = ("/usr/lib/*/webkit2gtk-4.1/MiniBrowser", "/usr/libexec/webkit2gtk-4.1/MiniBrowser")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Failed(AssertionError):
    """What the driver says of a command."""


class WebKit:
    def __init__(self, port: int, program: str) -> None:
        self._link = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        options = {"binary": program, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._here = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        sent = None if body is None else json.dumps(body)
        self._link.request(method, path, sent, {"Content-Type": "application/json"})
        value = json.loads(self._link.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise Failed(f"{path}: {value['error']}: {value.get('message', '')}")
        return value

    def go(self, address: str) -> None:
        self._ask("POST", f"{self._here}/url", {"url": address})

    def value(self, expression: str) -> Any:
        script = {"script": f"return {expression};", "args": []}
        return self._ask("POST", f"{self._here}/execute/sync", script)

    def until(self, expression: str) -> None:
        ends = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > ends:
                raise Failed(f"never true: {expression}")
            time.sleep(0.05)

    def element(self, selector: str) -> str:
        self.until(f"document.querySelector({json.dumps(selector)})")
        wanted = {"using": "css selector", "value": selector}
        return str(self._ask("POST", f"{self._here}/element", wanted)[ELEMENT])

    def click(self, selector: str) -> None:
        self._ask("POST", f"{self._here}/element/{self.element(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """`\\ue007` is Enter."""
        place = f"{self._here}/element/{self.element(selector)}/value"
        self._ask("POST", place, {"text": text})

    def end(self) -> None:
        self._ask("DELETE", self._here)
        self._link.close()


@contextmanager
def webkit(directory: Path) -> Iterator[WebKit]:
    """Its home is in `directory`."""
    directory.mkdir()
    driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    places = [each for place in PLACES for each in Path("/").glob(place.lstrip("/"))]
    if driver is None or screen is None or not places:
        missing = "there is no WebKitWebDriver with its MiniBrowser, or no Xvfb"
        raise Failed(f"{missing}: scripts/tools long installs them")
    with ExitStack() as ends, open(directory / "webkit.log", "wb") as log:
        read, write = os.pipe()
        display = _started(ends, [screen, "-displayfd", str(write), "-nolisten", "tcp"], log, write)
        os.close(write)
        with open(read) as told:
            number = told.readline().strip()
        assert number, display
        homes = {name: str(directory) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
        environment = {**os.environ, **homes, "DISPLAY": f":{number}", "GDK_BACKEND": "x11"}
        port = _free_port()
        _started(ends, [driver, f"--port={port}"], log, environment=environment)
        _listens(port)
        window = WebKit(port, str(places[0]))
        ends.callback(window.end)
        yield window


def _started(
    ends: ExitStack,
    line: list[str],
    log: Any,
    inherited: int | None = None,
    environment: dict[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    passed = () if inherited is None else (inherited,)
    process = subprocess.Popen(line, stdout=log, stderr=log, pass_fds=passed, env=environment)
    ends.callback(process.wait, PATIENCE)
    ends.callback(process.terminate)
    return process


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> None:
    import socket

    ends = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)
        else:
            return
