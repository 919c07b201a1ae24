"""Over HTTP and on the page, what a switch costs is shown first, and done with the fingerprint of
what was shown; a session that has nothing to lose is switched at once."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.conftest import Site
from tests.rigs.player import player


@pytest.fixture
def jay(site: Site) -> str:
    """An agent with a name of its own."""
    script = Path(site.served.home, "jay.json")
    script.write_text(json.dumps({"otherwise": [{"text": "jay heard: $prompt"}]}))
    argv = player(str(script), "--state", str(script.with_name("jay")))
    config = f"[agents.jay]\ncommand = {json.dumps(argv)}\n"
    Path(site.served.home, "config.toml").write_text(config)
    return "jay"


SCRIPT = {"otherwise": [{"text": "Heard: $prompt"}]}


def test_a_switch_is_shown_first_and_done_once_with_the_fingerprint(
    site: Site,
    jay: str,
) -> None:
    session, fresh = site.session(SCRIPT), site.session(SCRIPT)
    ask, place = site.served.ask, f"/api/v1/sessions/{session}/switch"
    at_once = ask("POST", f"/api/v1/sessions/{fresh}/switch", {"agent": jay})
    assert at_once.json()["update"]["to"] == jay

    site.say(session, "hello")
    asked = ask("POST", place, {"agent": jay})
    assert (asked.status, asked.json()["error"]) == (409, "preview")
    assert "jay has no memory of it" in asked.json()["shown"]
    assert ask("POST", place, {"agent": "owl"}).json()["error"] == "unknown_agent"
    other = {"agent": jay, "model": "big", "fingerprint": asked.json()["fingerprint"]}
    assert ask("POST", place, other).json()["error"] == "changed"

    yes = {"agent": jay, "fingerprint": ask("POST", place, {"agent": jay}).json()["fingerprint"]}
    done = ask("POST", place, yes, Idempotency_Key="once")
    assert (done.status, done.json()["update"]["to"]) == (200, jay)
    assert ask("POST", place, yes, Idempotency_Key="once").json() == done.json()
    back = {"do": "switch", "agent": "demo"}
    before = ask("POST", f"/api/sessions/{session}/commands", back)
    assert before.json()["update"]["to"] == "demo", "an earlier address does what it did"


def test_the_page_asks_and_offers_a_recap(
    site: Site,
    jay: str,
) -> None:
    session = site.session(SCRIPT)
    site.say(session, "hello")
    page = site.page(f"/sessions/{session}")
    expect(page.locator("#transcript")).to_contain_text("Heard: hello")
    field = page.get_by_label("Prompt", exact=True)
    site.expected = ("409",)  # of what would happen
    field.fill(f"/agent {jay}")
    field.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Switch from")
    expect(dialog).to_contain_text(f"{jay} has no memory of it.")
    dialog.get_by_role("button", name="Switch", exact=True).click()
    expect(page.locator("#transcript")).to_contain_text(f"to {jay}")
    expect(field).to_have_value(re.compile("^Recap of the conversation.*Heard: hello", re.DOTALL))
