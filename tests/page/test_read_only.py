"""The page of a daemon that only shows: nothing on it offers what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, Request, expect

from tests.client.work_tree.trees import Tree
from tests.daemon.served import serve
from tests.page.conftest import ASK, LAPTOP, PHONE, Site
from tests.page.test_asks import RUN

SCREENS = ("/", "/inbox", "/search?q=tests", "/usage", "/settings", "/settings/devices")
USABLE = "#main button:visible:enabled, #main summary:visible, #main select:visible:enabled"
REFUSED = """async ([method, path, body]) => { ASK
  const { api, told } = await import(main.src);
  await api(method, path, body).catch(told); }""".replace("ASK", ASK)
WRITES = (
    ("POST", "/api/sessions", {"cwd": "/tmp", "agent": "demo"}),
    ("POST", "/api/sessions/SESSION/prompt", {"text": "go"}),
    ("POST", "/api/sessions/SESSION/answer", {"ask": "1", "option": "allow"}),
    ("PATCH", "/api/sessions/SESSION", {"title": "Another"}),
    ("DELETE", "/api/sessions/SESSION", None),
    ("POST", "/api/races/drop", {"race": "latest"}),
    ("POST", "/api/devices/link", {"role": "all"}),
    ("PATCH", "/api/setup/forms/rules", {"values": {}}),
)


class Left(NamedTuple):
    site: Site
    asks: str
    wrote: str


@pytest.fixture
def left(serving: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A session that asks and one that changed a file, shown by a daemon that changes nothing."""
    site = serving()
    tree = Tree(tmp_path_factory.mktemp("tree"), a__txt="one\n")
    edits = {"otherwise": [{"write": "a.txt", "content": "two\n"}, {"text": "Written."}]}
    asks, wrote = site.session(RUN, title="Asks"), site.session(edits, cwd=tree.cwd, title="Wrote")
    page = site.page()
    for name, words in ((asks, "pytest -x"), (wrote, "Written.")):
        site.say(name, "go")
        page.goto(f"{site.served.address}/sessions/{name}")
        expect(page.locator("#transcript")).to_contain_text(words)
    site.close()
    site.served.stop()
    site.served = serve(Path(site.served.home), read_only=True)
    return Left(site, asks, wrote)


def sent(page: Page) -> list[str]:
    """What the page sends to the daemon that is more than a question."""
    found: list[str] = []

    def note(request: Request) -> None:
        if request.method not in ("GET", "HEAD"):
            found.append(f"{request.method} {request.url}")

    page.on("request", note)
    return found


@pytest.mark.long
@pytest.mark.parametrize("viewport", [LAPTOP, PHONE], ids=["1440", "390"])
def test_whatever_is_pressed_changes_nothing(left: Left, viewport: dict[str, int]) -> None:
    site, asks, wrote = left
    page = site.page(viewport=viewport)
    shown = (f"/sessions/{asks}", f"/sessions/{wrote}", f"/sessions/{wrote}/changes")
    places = [*SCREENS, *shown]
    pressed, requests = [], sent(page)
    for path in places:
        page.goto(site.served.address + path)
        page.wait_for_load_state("networkidle")
        for number in range(page.locator(USABLE).count()):
            page.goto(site.served.address + path)
            page.wait_for_load_state("networkidle")
            one = page.locator(USABLE).nth(number)
            pressed.append(f"{path}: {one.inner_text() or one.get_attribute('aria-label')}")
            one.click()
            page.wait_for_load_state("networkidle")
            assert requests == [], pressed[-1]
            expect(page.locator(".toast.failed")).to_have_count(0)
    assert len(pressed) > len(places), pressed
    expect(page.locator("textarea, .answers")).to_have_count(0)
    page.goto(f"{site.served.address}/sessions/{asks}")
    expect(page.locator("#composer")).to_contain_text("read-only")


@pytest.mark.long
def test_what_is_sent_all_the_same_is_refused_in_words(left: Left) -> None:
    site, session = left.site, left.asks
    site.expected = ("403",)
    page = site.page(f"/sessions/{session}")
    for method, path, body in WRITES:
        page.evaluate(REFUSED, [method, path.replace("SESSION", session), body])
        toast = page.locator(".toast.failed")
        expect(toast).to_contain_text("This Rookery is read-only.")
        expect(toast).to_contain_text("Start it without --read-only.")
        toast.get_by_role("button", name="Close").click()
    for path in ("/new", "/settings/rules/new", "/settings/models/new"):
        page.goto(site.served.address + path)
        expect(page.locator("#main")).to_contain_text("read-only")
        expect(page.locator("#main").get_by_role("button", name="Start")).to_have_count(0)
