"""What stands at a prompt and in the session's menu: edited and sent again, rewound, forked, put
away, its logs; and the buttons that help after a failure."""

import re

import pytest
from playwright.sync_api import Page, expect

from rookery.core.blocks import failures
from tests.page.conftest import PHONE, Site
from tests.page.test_composer import PIXEL
from tests.page.test_search import said
from tests.page.test_ways import SCRIPT, SECRET, choose, prompts, say


def at_prompt(page: Page, turn: int) -> None:
    page.get_by_role("button", name=f"Actions of prompt {turn}").click()


def chosen(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name).click()


@pytest.mark.long
def test_a_prompt_is_edited_and_sent_again_with_its_file_and_its_secret(site: Site) -> None:
    site.expected = ("409",)  # of what would happen
    session = site.session(SCRIPT)
    page = site.page(f"/sessions/{session}")
    transcript, field = page.locator("#transcript"), page.get_by_label("Prompt", exact=True)
    say(page, "first")
    expect(transcript).to_contain_text("Heard: first")
    picture = {"name": "nest.png", "mimeType": "image/png", "buffer": PIXEL}
    page.locator("#picker").set_input_files(picture)
    say(page, f"second {SECRET}")
    expect(transcript).to_contain_text("Heard: second")
    at_prompt(page, 2)
    chosen(page, "Edit and send again")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("rewound to turn 1; then the prompt is in the field.")
    expect(dialog).to_contain_text("The later turn is hidden, not deleted.")
    dialog.get_by_role("button", name="Rewind", exact=True).click()
    expect(transcript).to_contain_text("Rewound to turn 1")
    expect(transcript).not_to_contain_text("Heard: second")
    expect(field).to_have_value("second sk-•••")
    expect(page.locator(".composer .attached")).to_contain_text("nest.png")
    say(page, "third sk-••• instead")
    expect(transcript.locator(".answer").last).to_contain_text("third sk-••• instead")
    expect(transcript.locator(".prompt img")).to_have_count(1)
    assert prompts(site, session)[-1] == f"third {SECRET} instead"


@pytest.mark.long
def test_a_running_turn_is_cancelled_before_its_prompt_is_edited(site: Site) -> None:
    """By keys alone."""
    session = site.session(SCRIPT)
    page = site.page(f"/sessions/{session}")
    say(page, "long work")
    expect(page.locator("#transcript")).to_contain_text("Working.")
    site.expected = ("409",)
    choose(page, "Start over")  # it is refused, with the button that helps
    chosen(page, "Start over")
    expect(page.locator(".toast")).to_contain_text("A turn is running: cancel it first")
    expect(page.locator(".toast").get_by_role("button", name="Stop the turn")).to_be_visible()
    page.locator(".toast").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Actions of prompt 1").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The running turn is cancelled first.")
    page.keyboard.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Rewound to the beginning")
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("long work")


@pytest.mark.long
def test_on_a_phone_a_session_is_rewound_and_forked_from_its_prompts(site: Site) -> None:
    site.expected = ("409",)  # of what would happen
    session = site.session(SCRIPT)
    for words in ("first question", "second question", "third question"):
        said(site, session, words)
    page = site.page(f"/sessions/{session}", viewport=PHONE, has_touch=True, is_mobile=True)
    transcript = page.locator("#transcript")
    page.get_by_role("button", name="Actions of prompt 2").tap()
    chosen(page, "Fork here")
    chosen(page, "Fork")
    expect(page).not_to_have_url(re.compile(session))
    expect(transcript).to_contain_text(f"Forked from {session} at turn 2")
    page.goto(f"{site.served.address}/sessions/{session}")
    page.get_by_role("button", name="Actions of prompt 3").tap()
    chosen(page, "Rewind to before this prompt")
    page.get_by_role("dialog").get_by_role("button", name="Rewind", exact=True).tap()
    expect(transcript).to_contain_text("Rewound to turn 2")
    expect(transcript).not_to_contain_text("third question")
    page.get_by_role("button", name="Agent, model and figures").tap()
    page.get_by_role("button", name="More actions").last.tap()
    chosen(page, "Rewind")
    rows = page.get_by_role("dialog").locator(".row")
    expect(rows).to_contain_text(["Undo the last rewind", "2 second question", "1 first question"])
    rows.first.tap()
    page.get_by_role("dialog").get_by_role("button", name="Undo the rewind").tap()
    expect(transcript).to_contain_text("third question")


@pytest.mark.long
def test_the_menus_of_a_session_are_the_same_in_the_list_and_at_its_head(site: Site) -> None:
    session = site.session({"start": {"stderr": "the nest is ready"}, **SCRIPT}, title="Away")
    said(site, session, "hello")
    page = site.page(f"/sessions/{session}")
    choose(page, "Logs")
    logs = page.get_by_role("dialog", name="Logs")
    expect(logs.locator(".out")).to_contain_text("the nest is ready")
    logs.get_by_label("Which log").select_option("worker")
    expect(logs.locator(".out")).not_to_contain_text("the nest is ready")
    page.keyboard.press("Escape")
    choose(page, "Snooze for an hour")
    expect(page.locator("#bar .bar")).to_have_attribute("data-snoozed", "1")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#bar .bar")).not_to_have_attribute("data-snoozed", "1")
    page.locator("#bar .acts").get_by_role("button", name="More actions").click()
    ours = {each.split("\n")[0] for each in page.locator("dialog .row").all_inner_texts()}
    page.keyboard.press("Escape")
    page.goto(f"{site.served.address}/")
    row = page.locator(f"#s-{session}")
    row.hover()
    row.get_by_role("button", name="Actions").click()
    listed = {each.split("\n")[0] for each in page.locator("dialog .row").all_inner_texts()}
    assert {"Logs", "Snooze for an hour", "Pin", "Archive", "Delete"} <= listed <= ours
    chosen(page, "Delete")
    chosen(page, "Delete")
    expect(row).to_have_count(0)


def error(kind: str, code: int = -32603) -> dict[str, object]:
    return {"error": {"code": code, "message": f"no {kind}", "data": {"errorKind": kind}}}


FAILS = {
    "failed": {**error("luck")},
    "login": {**error("auth", -32000)},
    "network": error("network"),
    "context": error("context"),
    "refusal": {"stop": "refusal"},
    "max_tokens": {"stop": "max_tokens"},
    "agent_exited": {"crash": 3},
}


@pytest.mark.long
def test_each_failure_has_the_buttons_of_its_row_and_they_help(site: Site) -> None:
    turns = [[{"text": f"Turn of {kind}."}, step] for kind, step in FAILS.items()]
    session = site.session({"turns": turns, "otherwise": [{"text": "Heard: $prompt"}]})
    page = site.page(f"/sessions/{session}")
    notes = page.locator("#transcript .note:has(.actions)")
    for number, kind in enumerate(FAILS, 1):
        say(page, f"prompt of {kind}")
        expect(notes).to_have_count(number)
        about = failures.About("player", False, number)
        wanted = [each["label"] for each in failures.helping(failures.ENDS[kind], about)]
        expect(notes.last.get_by_role("button")).to_have_text(wanted)
    notes.last.get_by_role("button", name="Send again").click()
    expect(page.locator("#transcript")).to_contain_text("Heard: prompt of agent_exited")
    notes.last.get_by_role("button", name="Show the log").click()
    expect(page.get_by_role("dialog", name="Logs")).to_be_visible()
    page.keyboard.press("Escape")
    notes.nth(5).get_by_role("button", name="Continue").click()
    expect(page.locator("#transcript")).to_contain_text("Heard: Continue.")
    notes.nth(4).get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("prompt of refusal")
    notes.nth(3).get_by_role("button", name="Start over").click()
    chosen(page, "Start over")
    expect(page.locator("#transcript .divider")).to_be_visible()
    notes.first.get_by_role("button", name="Continue with another agent").click()
    expect(page.get_by_role("dialog", name="Switch agent")).to_be_visible()
    page.keyboard.press("Escape")
    notes.nth(1).get_by_role("button", name="Log in").click()
    expect(page).to_have_url(re.compile("/settings/agents/login"))
    assert prompts(site, session).count("prompt of agent_exited") == 2
