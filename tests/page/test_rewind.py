"""S5 on the page: the timeline takes a session back to a turn, or forks it there."""

import re

from playwright.sync_api import expect

from tests.page.conftest import Site
from tests.page.test_search import said


def test_S5_rewind_undo_and_fork_from_the_timeline(site: Site) -> None:
    session = site.session()
    for words in ("first question", "second question", "third question"):
        said(site, session, words)
    page = site.page(f"/sessions/{session}")
    page.locator("#scroll").press("t")
    turns = page.locator("#side .turns li")
    turns.nth(0).get_by_role("button", name="Rewind to here").click()
    transcript = page.locator("#transcript")
    expect(transcript).to_contain_text("Rewound to turn 1", timeout=60_000)
    expect(transcript).to_contain_text("first question")
    expect(transcript).not_to_contain_text("third question")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(transcript).to_contain_text("third question", timeout=60_000)
    page.locator("#scroll").press("t")
    turns.nth(1).get_by_role("button", name="Fork here").click()
    expect(page).not_to_have_url(re.compile(session), timeout=60_000)
    expect(transcript).to_contain_text(f"Forked from {session} at turn 2")
    expect(transcript).not_to_contain_text("third question")
