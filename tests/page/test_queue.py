"""While a turn runs, prompts wait in a queue that can be changed; a turn is steered and
cancelled."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Site

SCRIPT = {
    "agent": {"name": "bird", "steering": True},
    "match": [
        {
            "contains": "long work",
            "steps": [
                {"text": "Working."},
                {"until": "steer", "then": [{"text": "Steered: $steered"}, {"until": "cancel"}]},
            ],
        }
    ],
    "otherwise": [{"text": "Done: $prompt"}],
}


def waiting(page: Page) -> list[str]:
    return page.locator("#queue li .said").all_inner_texts()


def queued(page: Page, *wanted: str) -> None:
    expect(page.locator("#queue li .said")).to_have_text(list(wanted))


def press(page: Page, words: str, label: str) -> None:
    row = page.locator("#queue li").filter(has_text=words)
    row.get_by_role("button", name=label, exact=True).click()


def test_the_queue_is_changed_and_the_turn_steered_and_cancelled(site: Site) -> None:
    page = site.page(f"/sessions/{site.session(SCRIPT)}")
    field = page.get_by_label("Prompt", exact=True)
    field.fill("long work")
    field.press("Enter")
    answer = page.locator("#transcript")
    expect(answer).to_contain_text("Working.")
    stop = page.get_by_role("button", name="Stop the turn")
    expect(stop).to_be_visible()
    for words in ("one", "two", "three"):
        field.fill(words)
        field.press("Enter")
        expect(page.locator("#queue")).to_contain_text(words)
    queued(page, "one", "two", "three")
    press(page, "three", "Earlier")
    queued(page, "one", "three", "two")
    press(page, "one", "Remove")
    queued(page, "three", "two")
    press(page, "two", "Edit")
    expect(field).to_have_value("two")
    field.fill("second\nline")
    field.press("Enter")
    queued(page, "three", "second line")
    field.fill("to the left")
    field.press("Control+Enter")
    expect(answer).to_contain_text("Steered: to the left")
    stop.click()
    expect(page.locator("#bar .now")).not_to_contain_text("running")
    queued(page, "three", "second line")
    press(page, "three", "Send now")
    expect(answer).to_contain_text("Done: three")
    expect(stop).to_be_hidden()


@pytest.mark.long
def test_send_now_during_a_cancel_waits_for_its_end(site: Site) -> None:
    """The agent ignores the cancel, is ended after `cancel_grace`, and started again for what was
    sent meanwhile; the rest follows when that is done."""
    deaf = [{"text": "Working."}, {"deaf": True}, {"silence": True}]
    script = {"match": [{"contains": "long work", "steps": deaf}], "otherwise": SCRIPT["otherwise"]}
    page = site.page(f"/sessions/{site.session(script)}")
    field = page.get_by_label("Prompt", exact=True)
    answer = page.locator("#transcript")
    field.fill("long work")
    field.press("Enter")
    expect(answer).to_contain_text("Working.")
    for words in ("one", "two"):
        field.fill(words)
        field.press("Enter")
        expect(page.locator("#queue")).to_contain_text(words)
    page.get_by_role("button", name="Stop the turn").click()
    press(page, "two", "Send now")
    expect(answer).to_contain_text("Done: two")
    expect(answer).to_contain_text("Done: one")
    text = answer.inner_text()
    assert text.index("Done: two") < text.index("Done: one")
    queued(page)
