"""The form for logging in to an MCP server (OAuth), for a user who is not at this machine's
terminal.

`rookery mcp login` does it, in a process of its own: it loads what a daemon must not. First it
prints an address, which the user opens; then it waits for the browser to come back to this machine.
If the browser runs on another one, the user pastes the address of its last page instead."""

import atexit
import os
import subprocess
import sys
import threading
from queue import Empty, SimpleQueue
from typing import ClassVar, override
from urllib.error import URLError
from urllib.parse import parse_qs, urlsplit
from urllib.request import ProxyHandler, build_opener

from rookery.client.guard import require_person
from rookery.core.asks import links
from rookery.core.json import Json
from rookery.core.json.safe_text import clean_line
from rookery.forms.form import Form, Saved, described
from rookery.home import mcp
from rookery.processes.search_path import for_python

CONNECT = 150.0
"""Seconds until the address must be there: on a busy machine, most of them are for loading the
libraries."""
FINISH = 30.0
"""Seconds for the rest, once the browser was there."""
PROBABLY = 10.0
"""Seconds for it where the user says that the browser was there."""
LAST_PAGE = described(
    "Address of the last page",
    "Only if your browser runs on another machine and cannot show that page: "
    "it begins with http://127.0.0.1.",
)


class Waiting:
    """A login process that waits for the user's browser."""

    def __init__(self, home: str, name: str) -> None:
        args = ("-P", "-m", "rookery", "mcp", "login", name)
        more = {"ROOKERY_HOME": home, "NO_COLOR": "1", "COLUMNS": "1000", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=for_python({**os.environ, **more}),
        )
        self.url, self._last = "", ""
        self._news = SimpleQueue[bool]()
        threading.Thread(target=self._read, name=f"mcp login {name}", daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._last = clean_line(line.strip()) or self._last
            if not self.url and line.startswith(("http://", "https://")):
                self.url = links.read(line.strip()).url
                self._news.put(True)
        self.process.wait()
        self._news.put(True)

    def hear(self, seconds: float) -> None:
        """Wait until the address is known, or the process has ended."""
        try:
            self._news.get(timeout=seconds)
        except Empty:
            return

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def outcome(self, name: str) -> Saved:
        return Saved(self.process.returncode == 0, self._last or f"Not logged in to {name}.")

    def end(self) -> None:
        self.process.kill()


_waiting: dict[tuple[str, str], Waiting] = {}


@atexit.register
def _end_all() -> None:
    for each in _waiting.values():
        each.end()


class ServerLoginForm(Form):
    save_label: ClassVar[str] = "Log in"

    def __init__(self, home: str, name: str) -> None:
        """Raises BadServer if the server cannot be logged in to."""
        server = mcp.find(home, name)
        if server.fault or server.kind == "stdio":
            raise mcp.BadServer(
                f"{name}: {server.fault or 'only a server with a URL has a login'}."
            )
        self.title = f"Log in to {name}"
        self._name = name
        self.url = "" if (waiting := self._open(home)) is None else waiting.url
        """To be opened; empty: nothing was begun."""
        self.schema = {"properties": {"page": LAST_PAGE} if self.url else {}, "required": []}
        self.values: Json = {}

    def _open(self, home: str) -> Waiting | None:
        waiting = _waiting.get((home, self._name))
        return None if waiting is None or waiting.is_over else waiting

    @override
    def save(self, home: str, answers: Json) -> Saved:
        require_person(home, "log in to MCP servers")
        waiting = self._open(home)
        if waiting is None:
            return self._begun(home)
        if page := str(answers.get("page") or "").strip():
            back = parse_qs(urlsplit(waiting.url).query).get("redirect_uri", [""])[0]
            if not back or not page.startswith(f"{back}?"):
                return Saved(False, "", {"page": f"must begin with {back}?"})
            _visit(page)
        waiting.hear(FINISH if page else PROBABLY)
        if not waiting.is_over:
            return Saved(False, "Not logged in yet. Log in at the address, then press Done.")
        return self._ended(home, waiting)

    def _begun(self, home: str) -> Saved:
        waiting = _waiting[home, self._name] = Waiting(home, self._name)
        waiting.hear(CONNECT)
        if waiting.is_over:
            return self._ended(home, waiting)
        if not waiting.url:
            waiting.end()
            return Saved(False, f"{self._name}: no response in time.")
        return Saved(True, "Open the address to log in.")

    def _ended(self, home: str, waiting: Waiting) -> Saved:
        _waiting.pop((home, self._name), None)
        return waiting.outcome(self._name)


def _visit(page: str) -> None:
    """Open the page as the browser would have: the waiting process answers it."""
    try:
        with build_opener(ProxyHandler({})).open(page, timeout=FINISH) as answer:
            answer.read(1000)
    except (URLError, OSError, ValueError):
        return  # the process says how it went
