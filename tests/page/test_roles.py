"""A browser that may only look, or only look and answer: what its page offers."""

import re

from playwright.sync_api import Page, expect

from tests.page.conftest import PHONE, Site
from tests.page.test_asks import RUN


def asking(site: Site) -> str:
    session = site.session(RUN)
    site.say(session, "go")
    return session


def device(site: Site, page: Page) -> str:
    """The id of the page's device."""
    got = (
        "async () => (await (await import(document.querySelector('script[src*=\"main.js\"]').src))"
    )
    return str(page.evaluate(f"{got}.api('GET', '/api/about')).device"))


def test_a_device_that_may_only_look_is_offered_nothing_to_change(site: Site) -> None:
    session = asking(site)
    page = site.page(f"/sessions/{session}", role="look")
    expect(page.locator(".composer")).to_have_text("This device may only look.")
    expect(page.get_by_text("Run the tests").first).to_be_visible()
    for gone in (
        ".answers",
        "[data-do=more]",
        "[data-do=prompt]",
        "textarea",
        "button[data-do=pick]:enabled",
    ):
        expect(page.locator(gone)).to_have_count(0)
    site.say(session, "and again")  # what the stream sends is the same for all
    expect(page.locator(".answers")).to_have_count(0)
    page.goto(site.served.address + "/settings")
    expect(page.locator(".section .note")).to_have_text("This device may only look.")
    expect(page.locator(".sections a")).to_have_count(1)


def test_a_device_that_may_answer_answers_once_and_is_named(site: Site) -> None:
    session = asking(site)
    page = site.page(f"/sessions/{session}", role="answer", viewport=PHONE)
    expect(page.locator(".answers")).to_have_count(1)
    expect(page.locator("[data-always]")).to_have_count(0)
    expect(page.locator(".composer")).to_contain_text("look and answer questions")
    page.locator(".answers .primary").click()
    expect(page.locator("#transcript").get_by_text("allowed: ")).to_be_visible()
    expect(page.locator("#transcript")).to_contain_text(
        re.compile(r"You allowed it \((Chromium|Chrome)[\w ]* on Linux\)")
    )


def test_a_new_role_changes_the_page_that_is_open(site: Site) -> None:
    page = site.page(f"/sessions/{asking(site)}")
    expect(page.locator(".answers")).to_have_count(1)
    site.expected = ("401",)
    name = device(site, page)
    site.served.own("PATCH", f"/api/devices/{name}", {"role": "look"})
    expect(page.locator(".answers")).to_have_count(0)
    expect(page.locator(".composer")).to_have_text("This device may only look.")
    site.served.own("PATCH", f"/api/devices/{name}", {"role": "all"})
    expect(page.locator(".answers")).to_have_count(1)


def test_devices_are_renamed_and_given_roles_on_the_page(site: Site) -> None:
    site.expected = ("401",)
    other = site.page("/")
    page = site.page("/settings/devices")
    name = device(site, other)
    row = page.locator("li", has=page.locator(f"[data-role-of='{name}']"))
    row.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Anna's phone")
    page.get_by_role("textbox", name="Person").fill("Anna")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Anna's phone")
    with other.expect_navigation(), page.expect_navigation():  # it may do less now, and reloads
        row.get_by_role("combobox").select_option("look")
    expect(page.locator(".deeds-log")).to_contain_text("role: everything → only look (Anna")
    known = {each["id"]: each for each in site.served.own("GET", "/api/devices").json()}
    assert (known[name]["role"], known[name]["person"]) == ("look", "Anna")
