"""A session's worker is killed while its page is open: the page says so by itself, and what it
offers brings everything back."""

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rookery.core.json import loads
from tests.page.conftest import Site
from tests.page.test_access import complaints
from tests.page.test_asks import RUN

WORKS = {
    "turns": [[{"text": "Building."}, {"until": "cancel"}]],
    "otherwise": [{"text": "Built: $prompt"}],
}


def killed(site: Site, session: str) -> None:
    record = Path(site.served.home, "sessions", session, "worker.json")
    os.kill(loads(record.read_bytes())["pid"], signal.SIGKILL)


def opened(site: Site, script: object, until: str) -> tuple[Page, str]:
    session = site.session(script, title="Build the nest")
    site.say(session, "all of it")
    page = site.page(f"/sessions/{session}")
    expect(page.locator("#transcript")).to_contain_text(until)
    return page, session


@pytest.mark.long
def test_a_turn_whose_worker_was_killed_is_told_and_sent_again(site: Site) -> None:
    page, session = opened(site, WORKS, "Building.")
    killed(site, session)
    expect(page.locator("#bar .now")).to_contain_text("failed: the worker ended")
    row = page.locator("#fleet li", has_text="Build the nest")
    expect(row).to_contain_text("failed: the worker ended")
    note = page.locator("#transcript .note.failed")
    expect(note).to_contain_text("The worker ended during the turn")
    expect(note.get_by_role("button", name="Show the log")).to_be_visible()
    assert complaints(page) == []
    note.get_by_role("button", name="Send again").click()
    expect(page.locator("#transcript")).to_contain_text("Built: all of it")
    expect(page.locator("#bar .now")).to_have_text("●idle")
    expect(row).to_contain_text("Built: all of it")
    expect(page.locator("#transcript")).to_contain_text("Building.")
    expect(note).to_be_visible()


@pytest.mark.long
def test_an_ask_outlives_the_worker_and_its_answer_wakes_the_session(site: Site) -> None:
    page, session = opened(site, RUN, "pytest -x")
    killed(site, session)
    expect(page.locator(".asked")).to_contain_text("The agent is not running.")
    expect(page.locator("#bar .now")).to_contain_text("needs you")
    page.get_by_role("button", name="Allow", exact=False).first.click()
    expect(page.locator("#transcript")).to_contain_text("allowed: allow")
    expect(page.locator("#bar .now")).to_have_text("●idle")


@pytest.mark.long
def test_an_idle_session_sleeps_and_the_next_prompt_wakes_it(site: Site) -> None:
    page, session = opened(site, {"otherwise": [{"text": "Heard: $prompt"}]}, "Heard: all of it")
    expect(page.locator("#bar .now")).to_contain_text("idle")
    killed(site, session)
    expect(page.locator("#bar .now")).to_contain_text("asleep")
    page.get_by_label("Prompt", exact=True).fill("more")
    page.keyboard.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Heard: more")
