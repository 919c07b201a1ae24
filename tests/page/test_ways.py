"""Ways through a session that other tests do not take: what is done to it as a whole, by hand and
by key, and what is brought into it by drag and by paste."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rookery.core.agent.prompt import words_of
from rookery.home import paths
from rookery.log.reader import Reader
from tests.daemon.served import awaited
from tests.page.conftest import Site
from tests.page.test_composer import PIXEL
from tests.page.test_queue import press, queued

pytestmark = pytest.mark.long

SECRET = "sk-" + "heron" * 8
SCRIPT = {
    "agent": {"name": "bird", "capabilities": {"promptCapabilities": {"image": True}}},
    "match": [
        {"contains": "long work", "steps": [{"text": "Working."}, {"until": "cancel"}]},
        {"contains": "deaf work", "steps": [{"deaf": True}, {"text": "Deaf."}, {"wait": 600}]},
    ],
    "otherwise": [{"text": "Heard: $prompt"}],
}
DROP = """
([selector, name, bytes, kind]) => {
  const data = new DataTransfer();
  const inner = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  data.items.add(new File([inner], name, {type: "image/png"}));
  const given = {bubbles: true, cancelable: true};
  const event = kind === "paste" ? new ClipboardEvent(kind, {...given, clipboardData: data})
    : new DragEvent(kind, {...given, dataTransfer: data});
  document.querySelector(selector).dispatchEvent(event);
}
"""
"""A file from elsewhere, which no test can bring by hand."""


def say(page: Page, words: str) -> None:
    field = page.get_by_label("Prompt", exact=True)
    field.fill(words)
    field.press("Enter")


def choose(page: Page, name: str) -> None:
    page.locator("#bar .acts").get_by_role("button", name="More actions").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile(f"^{name}")).click()


def prompts(site: Site, session: str) -> list[str]:
    """As the log has them, secrets too."""
    with Reader.open(paths.session_dir(site.served.home, session)) as log:
        said = [each.update for each in log.events()]
    return [words_of(each["prompt"]) for each in said if each["sessionUpdate"] == "_prompt"]


@pytest.mark.long
def test_force_end_is_offered_where_stop_did_not_help(site: Site) -> None:
    page = site.page(f"/sessions/{site.session(SCRIPT, title='Stuck')}")
    menu, force = page.get_by_role("dialog"), page.locator(".composer .force")
    say(page, "deaf work")
    expect(page.locator("#transcript")).to_contain_text("Deaf.")
    page.get_by_role("button", name="More actions").click()
    expect(menu).to_contain_text("Stop the turn")
    expect(menu).not_to_contain_text("Force end")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop the turn").click()
    expect(force).to_be_visible()
    page.get_by_role("button", name="More actions").click()
    expect(menu.get_by_role("button", name="Force end")).to_contain_text("Stop did not help")


def test_actions_on_a_whole_session(site: Site) -> None:
    """Ctrl+. and Force end, pin, restart, start over, sleep, archive, the three downloads."""
    session = site.session(SCRIPT, title="Ways")
    page = site.page(f"/sessions/{session}")
    words, now = page.locator("#transcript"), page.locator("#bar .now")
    say(page, "long work")
    expect(words).to_contain_text("Working.")
    page.keyboard.press("Control+.")
    expect(words).to_contain_text("Cancelled")
    expect(now).to_have_attribute("data-sign", re.compile("idle|done"))
    say(page, "deaf work")
    expect(words).to_contain_text("Deaf.")
    page.get_by_role("button", name="Stop the turn").click()
    page.locator(".composer").get_by_role("button", name="Force end").click()
    page.get_by_role("dialog").get_by_role("button", name="Force end").click()
    expect(page.get_by_role("button", name="Stop the turn")).to_be_hidden()
    choose(page, "Pin")
    expect(page.locator("#bar .bar")).to_have_attribute("data-pinned", "1")
    say(page, "one")
    expect(words).to_contain_text("Heard: one")
    choose(page, "Restart the agent")
    expect(page.locator(".toast", has_text="restarted")).to_be_visible()
    say(page, "one more")
    expect(words).to_contain_text("Heard: one more")
    choose(page, "Start over")
    page.get_by_role("dialog").get_by_role("button", name="Start over").click()
    expect(words.locator(".divider")).to_be_visible()
    say(page, "two")
    expect(words).to_contain_text("Heard: two")
    choose(page, "Archive")
    expect(page.locator("#bar .bar")).to_have_attribute("data-archived", "1")
    archived = page.locator(".toast", has_text="Archived")
    archived.get_by_role("button", name="Undo").click()
    expect(page.locator("#bar .bar")).not_to_have_attribute("data-archived", "1")
    page.locator("#bar .acts").get_by_role("button", name="More actions").click()
    for name, mark in (
        ("Web page", "<!doctype html>"),
        ("Markdown", "Heard: two"),
        ("JSON lines", "{"),
    ):
        with page.expect_download() as given:
            page.get_by_role("dialog").get_by_role("link", name=name).click()
        assert mark in Path(given.value.path()).read_text(encoding="utf-8")
    page.keyboard.press("Escape")
    say(page, "awake again")  # the archive had put it to sleep
    expect(words).to_contain_text("Heard: awake again")
    choose(page, "Put to sleep")
    expect(page.locator("#bar .bar")).not_to_have_attribute("data-awake", "1")
    say(page, "three")
    expect(words).to_contain_text("Heard: three")


def test_prompts_are_reordered_by_dragging_and_images_dropped_and_pasted(site: Site) -> None:
    import base64

    page = site.page(f"/sessions/{site.session(SCRIPT)}")
    say(page, "long work")
    expect(page.locator("#transcript")).to_contain_text("Working.")
    for words in ("one", "two", "three"):
        say(page, words)
        expect(page.locator("#queue")).to_contain_text(words)
    rows = page.locator("#queue li")
    rows.filter(has_text="three").drag_to(rows.filter(has_text="one"))
    queued(page, "three", "one", "two")
    picture = base64.b64encode(PIXEL).decode()
    page.evaluate(DROP, ["#transcript", "dropped.png", picture, "drop"])
    expect(page.locator(".attached li")).to_have_count(1)
    page.evaluate(DROP, ["#prompt", "pasted.png", picture, "paste"])
    expect(page.locator(".attached li")).to_contain_text(["dropped.png", "pasted.png"])
    page.get_by_role("button", name="Stop the turn").click()
    expect(page.get_by_role("button", name="Stop the turn")).to_be_hidden()
    say(page, "two pictures")
    expect(page.locator("#transcript .prompt img")).to_have_count(2)


def test_a_limited_session_is_told_to_continue_then(site: Site) -> None:
    limits = {"status": "allowed", "rateLimitType": "five_hour", "utilization": 0.82}
    usage = {"sessionUpdate": "usage_update", "_meta": {"_claude/rateLimit": limits}}
    script = {**SCRIPT, "turns": [[{"update": usage}], [{"rate_limit": "2099-01-01T00:00:00Z"}]]}
    session = site.session(script)
    page = site.page(f"/sessions/{session}")
    say(page, "first")
    expect(page.locator(".bar .quota")).to_contain_text("5 h 82 %")
    say(page, "second")
    page.get_by_role("button", name="Continue at the reset", exact=True).click()
    card = page.locator("#transcript", has_text="The session then continues by itself.")
    expect(card).to_be_visible()
    page.get_by_role("button", name="Don't continue at the reset").click()
    expect(page.get_by_role("button", name="Continue at the reset", exact=True)).to_be_visible()
    page.goto(f"{site.served.address}/usage")
    expect(page.locator(".limits")).to_contain_text("5 h")


def test_editing_a_queued_prompt_keeps_its_masked_secret(site: Site) -> None:
    """The page shows it masked; what the agent gets is the secret, not the mask."""
    script = {**SCRIPT, "turns": [[{"rate_limit": "17:40"}]]}
    session = site.session(script)
    page = site.page(f"/sessions/{session}")
    say(page, f"limited {SECRET}")
    again = page.get_by_role("button", name="Retry now")
    again.click()
    answer = page.locator("#transcript .answer", has_text="Heard: limited sk-•••")
    expect(answer).to_be_visible()
    say(page, "long work")
    expect(page.locator("#transcript")).to_contain_text("Working.")
    say(page, f"later {SECRET}")
    queued(page, "later sk-•••")
    field = page.get_by_label("Prompt", exact=True)
    press(page, "later", "Edit")
    expect(field).to_have_value("later sk-•••")
    say(page, "edited sk-••• there")
    queued(page, "edited sk-••• there")
    press(page, "edited", "Edit")
    expect(field).to_have_value("edited sk-••• there")
    site.expected = ("409",)
    say(page, "••• and •••")
    expect(page.locator(".toast")).to_contain_text("contains a secret, which is not shown")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Stop the turn").click()
    expect(page.get_by_role("button", name="Stop the turn")).to_be_hidden()
    press(page, "edited", "Send now")
    expect(page.locator("#transcript")).to_contain_text("Heard: edited sk-••• there")
    sent = prompts(site, session)
    assert sent.count(f"limited {SECRET}") == 2
    assert sent[-1] == f"edited {SECRET} there"


def test_the_session_list_folds_at_medium_widths(site: Site) -> None:
    """700 to 1100 px: a button brings the sessions, a click elsewhere or a choice takes them."""
    first, other = site.session(SCRIPT, title="First"), site.session(SCRIPT, title="Other")
    page = site.page(f"/sessions/{first}", viewport={"width": 900, "height": 768})
    column = page.locator("#column")
    expect(column).to_be_hidden()
    page.get_by_role("link", name="All sessions").click()
    expect(column).to_be_visible()
    page.locator("#scroll").click(position={"x": 700, "y": 300})
    expect(column).to_be_hidden()
    page.get_by_role("link", name="All sessions").click()
    column.get_by_role("link", name="Other").click()
    page.wait_for_url(f"**/sessions/{other}")
    page.set_viewport_size({"width": 1100, "height": 768})
    expect(column).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    options = page.get_by_role("button", name="Agent, model and figures")
    expect(options).to_have_attribute("aria-expanded", "false")
    options.click()
    expect(options).to_have_attribute("aria-expanded", "true")
    site.say(other, "go")  # the bar is sent again
    expect(page.locator("#transcript")).to_contain_text("Heard: go")
    awaited(lambda: site.served.ask("GET", f"/api/sessions/{other}").json()["state"] == "idle")
    expect(options).to_have_attribute("aria-expanded", "true")


def test_a_late_answer_says_who_was_first(site: Site) -> None:
    ask = {"ask": "Run it", "kind": "execute", "rawInput": {"command": "make"}}
    session = site.session({"otherwise": [{**ask, "allowed": [{"text": "ran"}]}]})
    site.say(session, "go")
    page = site.page(f"/sessions/{session}")
    expect(page.locator(".asked")).to_be_visible()
    page.evaluate("() => { window.card = document.querySelector('.answers').cloneNode(true); }")
    open_ = next(
        iter(site.served.ask("GET", f"/api/sessions/{session}/header").json()["header"]["asks"])
    )
    answer = {"ask": open_, "option": "allow"}
    assert site.served.ask("POST", f"/api/sessions/{session}/answer", answer).status == 200
    expect(page.locator("#transcript")).to_contain_text("ran")
    page.evaluate("() => document.querySelector('#transcript').append(window.card)")
    page.locator(".answers button").first.click()
    expect(page.locator(".toast")).to_contain_text("This was already answered (")


def test_without_git_the_agents_edits_are_shown(site: Site) -> None:
    edit = {"diff": "a <b>.txt", "old": "one\ntwo\n", "new": "one\n2 <script>\n"}
    session = site.session({"otherwise": [edit, {"text": "Edited."}]})
    site.say(session, "go")
    page = site.page(f"/sessions/{session}")
    expect(page.locator("#transcript")).to_contain_text("Edited.")
    page.locator("#scroll").press("d")
    side = page.locator("#side")
    expect(side).to_contain_text("is not in a git repository. These are the agent's own edits")
    expect(side.locator(".file h3")).to_contain_text("a <b>.txt")
    expect(side.locator("tr.add")).to_contain_text("2 <script>")
