"""Sub-agents on the page, in a real browser: open while they work, folded when they are done."""

import os

from playwright.sync_api import expect

from tests.page.conftest import PATIENCE, Site

expect.set_options(timeout=PATIENCE)


def about(name: str, state: str, **fields: object) -> dict[str, object]:
    given = {"state": state, **({"stopReason": "end_turn"} if state == "idle" else {})}
    told = {"sessionUpdate": "subagent_update", "sessionId": name, "state": given}
    return {"update": told | fields}


def child(name: str, *steps: object) -> dict[str, object]:
    return {"child": name, "steps": list(steps)}


TURN = [
    {"text": "I let someone look."},
    about("s1", "running", title="Find the callers", description="Explore"),
    child("s1", {"text": "I search for them."}, {"tool": "Search for retry(", "kind": "search"}),
    child("s1", about("g1", "running", title="Read the history")),
    child("g1", {"text": "It was added in March."}),
    child("s1", about("g1", "idle")),
    child("s1", {"text": "Three callers.", "chunks": 3}),
    {"ask": "May I go on?", "kind": "other"},
    about("s1", "idle"),
    {"text": "There are three."},
]


def test_one_is_cancelled_and_the_turn_goes_on(site: Site) -> None:
    turn = [
        about("s1", "running", title="Find the callers", capabilities={"cancel": {}}),
        child("s1", {"text": "I search."}, {"until": "cancel"}),
        about("s1", "idle"),
        {"text": "Without it, then."},
    ]
    page = site.page(f"/sessions/{site.session({'otherwise': turn})}")
    site.say(page.url.rpartition("/")[2], "who calls it?")
    button = page.get_by_role("button", name="Cancel this sub-agent")
    button.click()
    expect(page.locator("#transcript").get_by_text("Without it, then.")).to_be_visible()
    expect(button).to_have_count(0)


def test_it_is_open_while_it_works_and_folds_when_it_is_done(site: Site) -> None:
    session = site.session({"otherwise": TURN})
    page = site.page(f"/sessions/{session}")
    site.say(session, "who calls it?")
    words = page.locator("p", has_text="Three callers.")
    expect(words).to_be_visible()
    expect(page.locator("p", has_text="It was added in March.")).to_be_hidden()
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/page-live-1440.png")
    page.get_by_role("button", name="Allow").first.click()
    expect(page.locator("#transcript").get_by_text("There are three.")).to_be_visible()
    expect(words).to_be_hidden()
    head = page.locator("details.sub > summary", has_text="Find the callers")
    expect(head).to_contain_text("1 call")
    expect(head).to_contain_text("Three callers.")
    if folder:
        page.screenshot(path=f"{folder}/page-done-1440.png")
        page.set_viewport_size({"width": 390, "height": 800})
        page.screenshot(path=f"{folder}/page-done-390.png")
    head.click()
    expect(words).to_be_visible()
    page.locator("details.sub > summary", has_text="Read the history").click()
    expect(page.locator("p", has_text="It was added in March.")).to_be_visible()
    if folder:
        page.screenshot(path=f"{folder}/page-open-390.png")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.screenshot(path=f"{folder}/page-open-1440.png")
