"""Ctrl+K: one field for sessions, what can be done here, places and settings."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.page.conftest import PHONE, Site


def find(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search sessions")).to_be_focused()
    page.keyboard.type(words)


def test_sessions_actions_and_settings_are_found_by_a_few_letters(site: Site) -> None:
    session, other = site.session(title="Heron"), site.session(title="Kingfisher")
    page = site.page(f"/sessions/{session}")
    expect(page.get_by_label("Prompt", exact=True)).to_be_focused()  # and types nothing into it
    find(page, "session a title")
    expect(page.get_by_role("option").first).to_contain_text("give a session a title")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    expect(page.get_by_label("Title")).to_have_value("Heron")
    page.keyboard.press("Escape")
    find(page, "kngfsh")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Kingfisher")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sessions/{other}")
    find(page, "no such thing at all")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    find(page, "budget per turn")
    expect(page.get_by_role("option").first).to_contain_text("Sessions and workers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/worker#f-*")
    expect(page.locator(":focus")).to_have_attribute("name", "session.budget_turn")


def test_a_file_of_the_session_and_the_colours_are_found(site: Site, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src/a?#%&b.py").write_text("one = 1\n")
    page = site.page(f"/sessions/{site.session(cwd=str(tree))}")
    expect(page.get_by_label("Prompt", exact=True)).to_be_focused()
    find(page, "src/a?#")
    expect(page.get_by_role("option", name="src/a?#%&b.py")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#L1")).to_contain_text("one = 1")
    page.wait_for_load_state()
    find(page, "dark")
    page.get_by_role("option", name="Colours light").click()
    page.wait_for_url("**/settings#look")


def test_a_thumb_opens_it_and_nothing_is_wider_than_the_screen(site: Site) -> None:
    site.session(title="A session with a title that is much longer than a phone is wide " * 2)
    page = site.page("/", viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_role("button", name="Search sessions").tap()
    expect(page.get_by_role("listbox", name="Matches")).to_have_attribute("aria-busy", "false")
    option = page.get_by_role("option").first
    expect(option).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    box = option.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    option.tap()
    page.wait_for_url("**/sessions/*")


def test_a_device_that_only_looks_finds_what_it_may_see(site: Site) -> None:
    session = site.session(title="Bittern")
    page = site.page(f"/sessions/{session}", role="look")
    find(page, "bittern")
    expect(page.get_by_role("option", name="Bittern")).to_have_count(1)
    page.get_by_role("combobox").fill("budget")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("combobox").fill("archive")
    expect(page.get_by_text("No matches.")).to_be_visible()
