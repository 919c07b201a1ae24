"""Search over everything ever said; the timeline, and find in a session."""

import re

import pytest
from playwright.sync_api import expect

from tests.daemon.served import awaited
from tests.page.conftest import LAPTOP, PHONE, Site

SCRIPT = {
    "turns": [
        [{"text": "The kingfisher waits. <b>bold</b>"}],
        [{"tool": "Read a.txt", "toolCallId": "t1", "kind": "read", "status": "completed"}],
        [{"text": "A second bird: the heron."}],
    ]
}


def talked(site: Site, title: str) -> str:
    session = site.session(SCRIPT, title=title)
    for words in ("first question", "read it", "and another"):
        said(site, session, words)
    return session


def said(site: Site, session: str, words: str) -> None:
    """A turn of its own: prompts that wait are sent together."""
    site.say(session, words)
    place = f"/api/sessions/{session}"
    awaited(lambda: site.served.ask("GET", place).json()["state"] == "idle", within=60.0)


@pytest.mark.long
def test_search_opens_a_hit_at_its_place(site: Site) -> None:
    """The timeline jumps there, too."""
    session = talked(site, "birds")
    page = site.page("/search")
    field = page.get_by_role("searchbox", name="Search everything ever said")
    expect(page.get_by_text("Search prompts, answers")).to_be_visible()
    field.press_sequentially("kingfis")
    hit = page.locator(".hits li", has_text="kingfisher")
    expect(hit).to_have_count(1)
    expect(hit.locator("mark")).to_have_text("kingfisher")
    expect(page).to_have_url(re.compile("q=kingfis$"))
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    marked = page.locator("#transcript .marked")
    expect(marked).to_contain_text("kingfisher")
    page.locator("#scroll").press("t")
    turns = page.locator("#side .turns li")
    expect(turns).to_have_count(3)
    expect(turns.nth(1).get_by_role("link", name="1 tool call")).to_be_visible()
    turns.nth(2).get_by_role("link", name="and another").click()
    expect(marked).to_contain_text("and another")
    page.locator("#scroll").press("f")
    page.get_by_role("searchbox", name="Find in this session").fill("first question")
    page.keyboard.press("Enter")
    expect(marked).to_contain_text("first question")
    assert session in page.url


@pytest.mark.long
def test_search_works_without_scripts_and_without_hits(site: Site) -> None:
    talked(site, "birds")
    page = site.page("/search?q=heron", java_script_enabled=False)
    expect(page.locator(".hits li").first).to_contain_text("heron")
    page.goto(f"{site.served.address}/search?q=nowhere+at+all&role=prompt")
    expect(page.get_by_role("link", name="Search everywhere")).to_be_visible()
    page.goto(f"{site.served.address}/search?q=%3Cscript%3E%22&agent=%22%3E%3Cb%3E")
    expect(page.get_by_text("No matches.")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_timeline_of_a_long_session_is_paged(site: Site, size: dict[str, int]) -> None:
    session = site.session({"otherwise": [{"text": "ok"}]})
    for n in range(105):
        said(site, session, f"prompt {n + 1}")
    page = site.page(f"/sessions/{session}/timeline", viewport=size)
    expect(page.locator(".turns li")).to_have_count(100)
    page.get_by_role("link", name="Earlier turns").click()
    expect(page.locator(".turns li").first).to_contain_text("prompt 1")
