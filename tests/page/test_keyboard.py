"""A day without a mouse, and one without motion."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Site
from tests.page.test_asks import REMOVE, RUN, has_focus

RING = """() => { const here = document.activeElement;
  const box = here.closest("label, .choice, .find, .composer, .own") ?? here;
  return here === document.body || [here, box].some((each) => { const s = getComputedStyle(each);
    return s.outlineStyle !== "none" || s.boxShadow !== "none"; }); }"""
MOVED = """() => { window.moved = [];
for (const name of ["animationstart", "transitionrun"]) addEventListener(name, (event) =>
  window.moved.push(event.animationName ?? event.propertyName)); }"""
NO_COLOUR = "rgba(0, 0, 0, 0)"


def tab_to(page: Page, selector: str) -> None:
    """By Tab alone; on the way, whatever has the focus shows it."""
    for _ in range(120):
        page.keyboard.press("Tab")
        assert page.evaluate(RING), page.evaluate("document.activeElement.outerHTML")[:200]
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    pytest.fail(f"Tab never came to {selector}")


@pytest.mark.long
def test_an_ask_is_found_answered_and_left_by_keys_alone(site: Site) -> None:
    session = site.session(RUN, title="Asks by keys")
    site.say(session, "go")
    page = site.page("/")
    expect(page.locator("#list")).to_contain_text("wants to run")
    tab_to(page, f'#list a[href="/sessions/{session}"]')
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sessions/{session}")
    has_focus(page)
    assert page.evaluate(RING)
    tab_to(page, ".answers button:not(.primary)")
    tab_to(page, "[data-do=more]")
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog")
    expect(menu).to_be_visible()
    assert page.evaluate(RING)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(page.locator("#bar [data-do=more]:visible")).to_be_focused()

    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search sessions")).to_be_focused()
    assert page.evaluate(RING)
    page.keyboard.press("Escape")
    expect(page.locator("#bar [data-do=more]:visible")).to_be_focused()

    page.keyboard.press("o")
    has_focus(page)
    tab_to(page, ".answers button.primary")
    page.keyboard.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("allowed: ")
    expect(page.get_by_label("Prompt", exact=True)).to_be_focused()
    assert page.evaluate(RING)


@pytest.mark.long
@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_nothing_moves_where_less_motion_is_wished(serving: Callable[..., Site], wish: str) -> None:
    """What is held turns another colour, and the next ask of the inbox is there at once."""
    site = serving()
    page = site.page("/inbox", reduced_motion=wish)
    for number, script in enumerate((REMOVE, RUN), 1):
        site.say(site.session(script), "go")
        expect(page.locator("#main")).to_contain_text(f"{number} waiting")
    page.reload()
    page.evaluate(MOVED)
    button = page.get_by_role("button", name="Allow", exact=False).first
    expect(button).to_contain_text("hold")
    button.hover()
    page.mouse.down()
    expect(page.locator(".answers .held")).to_be_visible()
    expect(page.locator(".answers .held")).not_to_have_css("background-color", NO_COLOUR)
    expect(page.locator(".asking .asked")).to_contain_text("pytest -x")
    page.mouse.up()
    expected = [] if wish == "reduce" else ["hold", "comes"]
    page.wait_for_function("count => window.moved.length >= count", arg=len(expected))
    assert page.evaluate("window.moved") == expected
