"""A day with three agents: one asks, one fails, one is done. On every screen and in every width,
what matters is said whole and what helps can be reached."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import LAPTOP, PHONE, Site
from tests.page.test_access import TABLET, WIDER, complaints
from tests.page.test_asks import RUN

WHY = "The model could not be reached: connection reset by peer after 3 attempts"
ENDS: dict[str, list[Any]] = {
    "Upgrade to Django 6": [{"text": "Reading the notes."}, {"error": WHY}],
    "Dark mode for settings": [{"text": "Six files changed."}],
}
BAR = """() => { const bar = document.querySelector("#bar .bar"), cut = [];
  const name = bar.querySelector("h1 span");
  if (innerWidth > 699 && name.scrollWidth > name.clientWidth) cut.push("the title");
  const shown = [...bar.querySelectorAll(".acts button")].filter((each) => each.offsetWidth);
  for (const each of shown) if (each.getBoundingClientRect().right > innerWidth)
    cut.push(each.getAttribute("aria-label"));
  if (bar.getBoundingClientRect().height > 56) cut.push("it has several lines");
  return shown.length ? cut : ["the buttons"]; }"""


def looked_at(site: Site, page: Page, path: str, words: str) -> None:
    page.goto(site.served.address + path)
    expect(page.locator("#main")).to_contain_text(words)
    page.wait_for_load_state("networkidle")
    assert page.evaluate(WIDER) == [], path
    assert complaints(page) == [], path


@pytest.mark.long
def test_a_day_with_an_ask_a_failure_and_an_end(site: Site) -> None:
    asks = site.session(RUN, title="Fix flaky login test")
    ended = {name: site.session({"turns": [steps]}, title=name) for name, steps in ENDS.items()}
    fleet = site.page("/")
    for session in (asks, *ended.values()):
        site.say(session, "go")
    needs = fleet.locator("#list section", has=fleet.get_by_role("heading", name="Needs you"))
    expect(needs.locator("li")).to_have_count(2)
    expect(needs).to_contain_text("wants to run")
    expect(needs).to_contain_text("failed: The model could not be reached")
    done = fleet.locator("#list section", has=fleet.get_by_role("heading", name="To read"))
    expect(done).to_contain_text("Six files changed.")
    expect(fleet).to_have_title("● 2 need you · Rookery")

    failed = ended["Upgrade to Django 6"]
    for viewport in (LAPTOP, TABLET, PHONE):
        touch = {"has_touch": True, "is_mobile": True} if viewport == PHONE else {}
        for theme in ("light", "dark"):
            page = site.page(viewport=viewport, color_scheme=theme, **touch)
            looked_at(site, page, "/", "Fix flaky login test")
            looked_at(site, page, "/inbox", "pytest -x")
            looked_at(site, page, f"/sessions/{asks}", "pytest -x")
            looked_at(site, page, f"/sessions/{failed}", WHY)
            assert page.evaluate(BAR) == [], (viewport, theme)
            for name in ("Send again", "Show the log", "Continue with another agent"):
                expect(page.get_by_role("button", name=name)).to_be_visible()
            page.context.close()
