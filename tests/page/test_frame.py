"""The frame that all screens stand in, and how a browser gets in."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.page.conftest import Site


def test_a_browser_is_asked_to_log_in_and_comes_back_to_where_it_went(site: Site) -> None:
    """D1: a one-time link sets a cookie; the link is good once."""
    site.expected = ("401",)
    page = site.page("/inbox", logged_in=False)
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_text("rookery serve --link")).to_be_visible()
    link = site.served.own("POST", "/api/devices/link", {}).json()["link"]
    page.goto(link)
    page.get_by_role("button", name="Log in on this device").click()
    expect(page.get_by_role("link", name="Rookery", exact=True)).to_be_visible()
    assert urlsplit(page.url).path == "/"
    page.goto(link)
    page.get_by_role("button", name="Log in on this device").click()
    expect(page.get_by_text("This link has expired or was used.")).to_be_visible()


def test_an_unknown_address_says_so_to_a_person(site: Site) -> None:
    site.expected = ("404",)
    page = site.page("/nowhere")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("link", name="All sessions")).to_be_visible()
