"""A chromium for one measurement, logged in at a daemon."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from playwright.sync_api import BrowserContext, Page, sync_playwright

from bench.daemons import Place
from rookery.client.daemon import local

FLAGS = (
    "--disable-gpu",
    "--no-sandbox",
    "--disable-background-networking",
    "--no-first-run",
    "--enable-precise-memory-info",
)
PATIENCE = 120_000.0
"""Milliseconds."""


@contextmanager
def browser(place: Place) -> Iterator[BrowserContext]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise RuntimeError("there is no chromium: scripts/tools installs it")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        context = running.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE)
        log_in(context, place.roost.home)
        yield context
        running.close()


def log_in(context: BrowserContext, home: str) -> None:
    """By a one-time link of the daemon that serves this home."""
    page = context.new_page()
    page.goto(local.request(home, "POST", "/api/devices/link", {}).json()["link"])
    with page.expect_navigation():
        page.get_by_role("button", name="Log in on this device").click()
    page.close()


def clock_offset(page: Page) -> float:
    """Milliseconds to add to the page's `performance.now()` for this machine's monotonic clock, by
    the quickest of many questions."""
    best, found = 1e9, 0.0
    for _ in range(40):
        before = monotonic() * 1e3
        there = page.evaluate("() => performance.now()")
        after = monotonic() * 1e3
        if after - before < best:
            best, found = after - before, (before + after) / 2 - there
    return found
