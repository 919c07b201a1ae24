"""A real browser at a real daemon. What the page logs as an error, and what its policy forbids,
fails the test."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    expect,
    sync_playwright,
)

from rookery.client.create import create_session
from tests.conftest import temporary_home
from tests.daemon.served import Served, serve
from tests.rigs.player import player

HERE = "tests/page/"
PATIENCE = 60_000.0
"""Milliseconds until a test that waits for the page gives up."""
expect.set_options(PATIENCE)
LAPTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
SPIES = """
window.faults = [];
addEventListener("securitypolicyviolation", (event) =>
  window.faults.push(`${event.violatedDirective} forbids ${event.blockedURI}`));
"""

ASK = """
const main = document.querySelector("script[type=module]");
const { ask } = await import(new URL("device.js", main.src));
"""
"""In a script of a test: `ask` is the page's own fetch."""


class Place:
    """A daemon, and the sessions that a test makes for it."""

    def __init__(self, served: Served, directory: Path) -> None:
        self.served = served
        self.directory = directory
        self._scripts = 0

    def session(self, script: Any = None, **fields: Any) -> str:
        """A new session with a scripted agent (tests/rigs/README.md)."""
        self._scripts += 1
        place = self.directory / f"agent-{self._scripts}"
        work = place / "work"
        work.mkdir(parents=True)
        (place / "script.json").write_text(json.dumps(script or {}))
        argv = player(str(place / "script.json"), "--state", str(place / "state"))
        given = {"agent": "player", "cwd": str(work), **fields}
        return create_session(self.served.home, argv=argv, **given)

    def say(self, session: str, text: str, **more: Any) -> None:
        body = {"text": text, **more}
        answer = self.served.ask("POST", f"/api/sessions/{session}/prompt", body)
        assert answer.status == 200, answer.body

    def link(self, role: str = "all") -> str:
        """A one-time link that logs a browser in."""
        return str(self.served.own("POST", "/api/devices/link", {"role": role}).json()["link"])


class Site(Place):
    """The same with browsers that are logged in."""

    def __init__(self, served: Served, browser: Browser, directory: Path) -> None:
        super().__init__(served, directory)
        self.browser = browser
        self._contexts: list[BrowserContext] = []
        self._faults: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Parts of errors in the console that the test brings about."""

    def page(
        self, path: str = "", *, logged_in: bool = True, role: str = "all", **context: Any
    ) -> Page:
        """A window of a browser of its own."""
        made = self.browser.new_context(**{"viewport": LAPTOP, **context})
        made.set_default_timeout(PATIENCE)
        made.set_default_navigation_timeout(PATIENCE)
        if context.get("java_script_enabled", True):
            made.add_init_script(SPIES)
        self._contexts.append(made)
        made.on("page", self._watch)
        page = made.new_page()
        if logged_in and context.get("java_script_enabled", True):
            self.log_in(page, role)
        elif logged_in:  # such a page is only for --auth none: stand in for that
            made.set_extra_http_headers({"Authorization": f"Bearer {self.served.token}"})
        if path:
            page.goto(self.served.address + path)
        return page

    def log_in(self, page: Page, role: str = "all") -> None:
        """By a one-time link, as a person does."""
        page.goto(self.link(role))
        with page.expect_navigation():
            page.get_by_role("button", name="Log in on this device").click()

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self._faults.append(f"uncaught: {error}"))
        page.on("console", self._logged)

    def _logged(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self._faults.append(f"{said.text} ({said.location['url']})")

    def close(self) -> None:
        """Raises AssertionError: a page complained."""
        for context in self._contexts:
            for page in context.pages:
                self._faults += page.evaluate("window.faults ?? []") if _runs(page) else []
            context.close()
        found = [each for each in self._faults if not any(word in each for word in self.expected)]
        self._contexts, self._faults = [], []
        assert not found, "\n".join(found)


def _runs(page: Page) -> bool:
    try:
        return bool(page.evaluate("!!window.faults"))
    except Error:  # its scripts are off, or it is gone
        return False


_running: list[tuple[ExitStack, Browser]] = []
"""The browser of all tests here: to start one takes seconds of processor time."""


@pytest.fixture
def browser() -> Browser:
    if not _running:
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            pytest.fail("there is no chromium: scripts/tools installs it")
        ends = ExitStack()
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("ROOKERY_HOME", raising=False)  # it belongs to no home
            playwright = ends.enter_context(sync_playwright())
            made = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        ends.callback(made.close)
        _running.append((ends, made))
    return _running[0][1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """It ends with the last of them: while it runs, no other loop may in this process."""
    try:
        yield
    finally:  # after a page that complained, too
        if _running and (nextitem is None or not nextitem.nodeid.startswith(HERE)):
            ends, _ = _running.pop()
            ends.close()


@pytest.fixture(scope="module")
def served_home() -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        yield from temporary_home(patch)


@pytest.fixture(scope="module")
def served(served_home: Path) -> Iterator[Served]:
    """One daemon for the tests of a file."""
    daemon = serve(served_home)
    yield daemon
    daemon.stop()


@pytest.fixture
def site(served: Served, browser: Browser, tmp_path: Path) -> Iterator[Site]:
    site = Site(served, browser, tmp_path)
    yield site
    site.close()


@pytest.fixture
def serving(served_home: Path, browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Another daemon, with options or to be killed; of a home of its own."""
    sites: list[Site] = []
    homes: list[Iterator[Path]] = []

    def start(**options: Any) -> Site:
        patch = pytest.MonkeyPatch()
        patches.append(patch)
        homes.append(temporary_home(patch))
        place = tmp_path / f"served-{len(sites)}"
        place.mkdir()
        sites.append(Site(serve(next(homes[-1]), **options), browser, place))
        return sites[-1]

    patches: list[pytest.MonkeyPatch] = []
    yield start
    try:
        for site in sites:
            site.close()
    finally:
        for site in sites:
            site.served.stop()
        for home, patch in reversed(list(zip(homes, patches, strict=True))):
            next(home, None)
            patch.undo()
