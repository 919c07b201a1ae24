"""Logging in with a passphrase, in a browser: the right one, a wrong one, and too many of those."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from rookery.daemon import passphrase
from rookery.daemon.access.lockout import MAX_GUESSES
from tests.page.conftest import Site
from tests.page.test_access import complaints

SECRET = "rooks nest in tall trees"


def tries(page: Page, words: str) -> None:
    field = page.get_by_label("Passphrase")
    field.fill(words)
    field.press("Enter")


@pytest.mark.long
def test_the_right_passphrase_opens_the_page_and_too_many_wrong_ones_close_that_way(
    serving: Callable[..., Site],
) -> None:
    site = serving(auth="passphrase", passphrase=passphrase.hashed(SECRET))
    site.expected = ("401", "429")
    page = site.page("/inbox", logged_in=False)
    page.wait_for_url("**/login?next=%2Finbox")
    expect(page.get_by_label("Passphrase")).to_be_focused()
    assert complaints(page) == []
    wrong = page.get_by_role("alert")
    tries(page, "not this one")
    expect(wrong).to_contain_text("This passphrase is wrong.")
    tries(page, SECRET)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()

    stranger = site.page("/", logged_in=False)
    for _ in range(MAX_GUESSES):
        tries(stranger, "not this one")
        expect(wrong_of(stranger)).to_contain_text("This passphrase is wrong.")
    tries(stranger, SECRET)
    expect(wrong_of(stranger)).to_contain_text("Too many failed attempts from this address.")
    expect(wrong_of(stranger)).to_contain_text("Try again in 15 min.")
    expect(wrong_of(stranger)).to_contain_text("log in by a link: rookery serve --link")
    assert complaints(stranger) == []
    page.reload()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    site.log_in(stranger)
    expect(stranger.locator("#list")).to_be_attached()


def wrong_of(page: Page) -> object:
    return page.get_by_role("alert")
