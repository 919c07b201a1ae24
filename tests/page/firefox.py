"""Firefox as Debian ships it, driven by WebDriver BiDi: what a test does with a keyboard and asks
the page for."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAMS = ("firefox-esr", "firefox")
PATIENCE = 120.0
KEYS = {"Enter": "\ue007", "PageUp": "\ue00e", "Tab": "\ue004"}
PREFERENCES = """
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("remote.active-protocols", 1);
"""


class Failed(AssertionError):
    """What the browser says of a command, or of a script."""


class Firefox:
    """One window of it."""

    def __init__(self, link: ClientConnection) -> None:
        self._link = link
        self._numbers = count(1)
        self.faults: list[str] = []
        """What the page logged as an error."""
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        (context,) = self.call("browsingContext.getTree")["contexts"]
        self._context = context["context"]

    def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._link.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self._link.recv(timeout=PATIENCE))
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.faults.append(told["params"]["text"])
            if told.get("id") == number:
                if told["type"] == "error":
                    raise Failed(f"{method}: {told['message']}")
                return told["result"]

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self._context, viewport=size)

    def go(self, address: str) -> None:
        here = {"context": self._context, "wait": "complete"}
        self.call("browsingContext.navigate", url=address, **here)

    def value(self, expression: str) -> Any:
        """Of a script; its promise is awaited."""
        script = f"(async () => JSON.stringify(await ({expression}) ?? null))()"
        target = {"context": self._context}
        told = self.call("script.evaluate", expression=script, target=target, awaitPromise=True)
        if told["type"] != "success":
            raise Failed(told["exceptionDetails"]["text"])
        return json.loads(told["result"]["value"])

    def until(self, expression: str) -> None:
        """Until it is true: asked in the page with each frame, so that no time is lost."""
        script = (
            "new Promise((done) => { const look = (left) => { let found = false;"
            f" try {{ found = Boolean({expression}); }} catch {{ /* not yet */ }}"
            " if (found || !left) done(found); else requestAnimationFrame(() => look(left - 1));"
            " }; look(300); })"
        )
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with suppress(Failed):  # the page it was asked in has gone
                if self.value(script):
                    return
        raise Failed(f"never true: {expression}")

    def press(self, *keys: str) -> None:
        """Real keys, one after another: a character, or a name of KEYS."""
        pressed = [KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.call("input.performActions", context=self._context, actions=[source])

    def wheel(self, selector: str, by: int) -> None:
        box = self.value(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
        place = {"x": int(box["x"] + 50), "y": int(box["y"] + 50)}
        scroll = {"type": "scroll", "deltaX": 0, "deltaY": by, **place}
        source = {"type": "wheel", "id": "wheel", "actions": [scroll]}
        self.call("input.performActions", context=self._context, actions=[source])


@contextmanager
def firefox(directory: Path) -> Iterator[Firefox]:
    """Its profile is in `directory`, so it takes nothing of the user's."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program is not None, "there is no firefox: scripts/tools long installs it"
    profile = directory / "profile"
    profile.mkdir(parents=True)
    (profile / "user.js").write_text(PREFERENCES)
    line = [program, "--headless", "--no-remote", "--profile", str(profile)]
    with open(directory / "firefox.log", "wb") as log:
        process = subprocess.Popen(
            [*line, "--remote-debugging-port=0", "about:blank"], stdout=log, stderr=log
        )
    try:
        port = _port(profile / "WebDriverBiDiServer.json", process)
        with connect(f"ws://127.0.0.1:{port}/session", max_size=None, proxy=None) as link:
            yield Firefox(link)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _port(file: Path, process: "subprocess.Popen[bytes]") -> int:
    """Where it listens: it writes that down once it does."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and process.poll() is None:
        try:
            return int(json.loads(file.read_text())["ws_port"])
        except (OSError, ValueError, KeyError):
            time.sleep(0.05)
    raise Failed("Firefox does not listen: see firefox.log beside its profile")
