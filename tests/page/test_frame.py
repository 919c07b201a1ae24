"""The frame that all screens stand in, and how a browser gets in."""

from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

from playwright.sync_api import expect

from tests.page.conftest import ASK, Site


def test_a_browser_is_asked_to_log_in_and_comes_back_to_where_it_went(site: Site) -> None:
    """By a one-time link, which is good once: its button is gone with it."""
    site.expected = ("401", "410")
    page = site.page("/inbox", logged_in=False)
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_text("rookery serve --link")).to_be_visible()
    link = site.served.own("POST", "/api/devices/link", {}).json()["link"]
    page.goto(link)
    late = site.page(urlsplit(link)._replace(scheme="", netloc="").geturl(), logged_in=False)
    page.get_by_role("button", name="Log in on this device").click()
    expect(page.get_by_role("link", name="Rookery", exact=True)).to_be_visible()
    assert urlsplit(page.url).path == "/"
    late.get_by_role("button", name="Log in on this device").click()
    expect(late.get_by_text("This link has expired or was used.")).to_be_visible()
    late.reload()
    expect(late.get_by_text("This link was used, or is older than ten minutes.")).to_be_visible()
    expect(late.get_by_text("rookery serve --link")).to_be_visible()
    expect(late.get_by_role("button", name="Log in on this device")).to_have_count(0)


def test_an_unknown_address_says_so_to_a_person(site: Site) -> None:
    site.expected = ("404",)
    page = site.page("/nowhere")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("link", name="All sessions")).to_be_visible()


def test_whoever_is_logged_in_is_not_asked_to_log_in_again(site: Site) -> None:
    site.expected = ("401",)  # which brings the challenge
    page = site.page()
    devices = site.served.own("GET", "/api/devices").json()
    page.goto(site.served.own("POST", "/api/devices/link", {}).json()["link"])
    page.wait_for_url(site.served.address + "/")
    page.goto(site.served.address + "/login?next=/settings/trash")
    page.wait_for_url("**/settings/trash")
    assert len(site.served.own("GET", "/api/devices").json()) == len(devices)


def test_a_place_in_a_page_is_kept_over_the_login(site: Site) -> None:
    page = site.page("/usage?days=7#100%", logged_in=False)
    page.wait_for_url("**/login?next=**")
    (place,) = parse_qs(urlsplit(page.url).query)["next"]
    assert place == "/usage?days=7#100%"
    link = site.served.own("POST", "/api/devices/link", {}).json()["link"]
    page.goto(f"{link}&next={quote(place)}")
    page.get_by_role("button", name="Log in on this device").click()
    page.wait_for_url("**" + place)
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()


def test_without_a_login_requests_leave_room_for_a_proxys_own(serving: Callable[..., Site]) -> None:
    site = serving(auth="none")
    page = site.page(logged_in=False)
    page.context.add_cookies([{"name": "proxy", "value": "1", "url": site.served.address}])
    page.goto(site.served.address + "/login?next=/inbox")
    assert page.url == site.served.address + "/inbox"  # there is nothing to ask
    with page.expect_request("**/api/about") as sent:
        page.evaluate(f"(async () => {{ {ASK} await ask('/api/about'); }})()")
    headers = sent.value.all_headers()
    assert headers["cookie"] == "proxy=1"
    assert "authorization" not in headers
