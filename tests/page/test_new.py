"""V7: a new session from the page."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.daemon.served import Served
from tests.page.conftest import PATIENCE, PHONE, Site

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}


def test_V7_a_prompt_and_enter_begin_a_session_that_streams(site: Site) -> None:
    site.expected = ("409",)
    page = site.page("/new")
    prompt = page.get_by_label("First prompt")
    expect(prompt).to_be_focused()
    place = page.get_by_label("Directory")
    place.fill(str(site.directory / "no"))
    prompt.fill('{"play": [{"text": "It works.", "chunks": 3, "every": 0.05}]}')
    prompt.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is not a directory")
    expect(prompt).to_have_value('{"play": [{"text": "It works.", "chunks": 3, "every": 0.05}]}')
    (site.directory / "north").mkdir()
    place.fill(str(site.directory / "nor"))
    page.get_by_role("option", name="north").click(timeout=PATIENCE)
    expect(place).to_have_value(f"{site.directory}/north/")
    page.get_by_label("Agent", exact=True).select_option("demo")
    prompt.press("Enter")
    page.wait_for_url("**/sessions/*")
    expect(page.locator("#transcript .answer").last).to_contain_text("It works.")
    expect(page.locator("#bar")).to_contain_text("ready")
    again = site.page("/new")
    expect(again.get_by_label("Directory")).to_have_value(str(site.directory / "north"))
    expect(again.get_by_label("Agent", exact=True)).to_have_value("demo")


def test_V7_the_form_works_without_scripts(served: Served) -> None:
    given = {"cwd": "/tmp/<b>no", "agent": "demo", "prompt": "<script>x</script>"}
    answer = served.ask("POST", "/new", urlencode(given).encode(), **FORM)
    assert answer.status == 409
    assert b"is not a directory" in answer.body
    assert b"&lt;script&gt;x&lt;/script&gt;" in answer.body
    assert b"<script>x" not in answer.body
    good = urlencode({"cwd": "/tmp", "agent": "demo"}).encode()
    made = served.ask("POST", "/new", good, **FORM)
    assert made.status == 303
    assert made.headers["location"].startswith("/sessions/")
    foreign = served.ask("POST", "/new", good, Origin="https://evil.example", **FORM)
    assert foreign.status == 403


def test_V7_directories_are_found_by_how_they_begin(served: Served, site: Site) -> None:
    for name in ("shop", "Shed", ".hidden", "other"):
        (site.directory / name).mkdir()
    (site.directory / "ship.txt").touch()

    def found(prefix: str) -> list[str]:
        query = urlencode({"prefix": prefix})
        answer = served.ask("GET", f"/api/directories?{query}")
        assert answer.status == 200, answer.body
        return [str(each) for each in answer.json()["directories"]]

    place = str(site.directory)
    assert found(f"{place}/sh") == [f"{place}/shop/", f"{place}/Shed/"]
    assert found(f"{place}/.h") == [f"{place}/.hidden/"]
    assert f"{place}/.hidden/" not in found(f"{place}/")
    assert found("relative") == found("~nobody/") == found(f"{place}/\0") == []
    assert served.ask("GET", "/api/directories", token="").status == 401


@pytest.mark.long
def test_V7_on_a_phone_nothing_is_wider_than_the_screen(site: Site) -> None:
    page = site.page("/new", viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_text("More agents").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
