"""What a session runs with is changed in its bar; what helps to write a prompt."""

import base64
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.daemon.served import awaited
from tests.page.conftest import PHONE, Site

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MODES = ["plan", "code"]
SCRIPT = {
    "agent": {
        "name": "bird",
        "modes": [{"id": each, "name": each.title()} for each in MODES],
        "commands": [{"name": "review", "description": "review the changes"}],
        "capabilities": {"promptCapabilities": {"image": True, "embeddedContext": True}},
    },
    "otherwise": [{"text": "Heard: $prompt"}],
}


def prompt(page: Page, words: str) -> None:
    field = page.get_by_label("Prompt", exact=True)
    field.fill(words)
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text(f"Heard: {words}")


KEPT = """async (draft) => {
  const known = (await indexedDB.databases()).some(({ name }) => name === "rookery-drafts");
  return known && new Promise((done) => {
    const opening = indexedDB.open("rookery-drafts");
    opening.onsuccess = () => {
      const asked = opening.result.transaction("files").objectStore("files").get(draft);
      asked.onsuccess = () => { opening.result.close(); done(asked.result?.length ?? 0); };
    };
  });
}"""


def is_kept(page: Page, session: str) -> bool:
    """Whether files of the draft are on the disk, soon."""
    return bool(awaited(lambda: page.evaluate(KEPT, session)))


@pytest.mark.long
def test_another_agent_takes_over_with_a_recap(site: Site) -> None:
    page = site.page(f"/sessions/{site.session(SCRIPT)}")
    prompt(page, "remember the word heron")
    page.locator("#bar .acts").get_by_role("button", name="More actions").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Mode")).click()
    page.get_by_role("dialog").get_by_role("button", name="Code").click()
    expect(page.locator("#bar [data-option=mode]")).to_contain_text("Code")
    site.expected = ("409",)  # of what would happen
    page.locator("#bar [data-option=agent]").click()
    page.get_by_role("dialog").get_by_role("button", name="Demo").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Give Demo a recap")
    dialog.get_by_role("button", name="Switch").click()
    expect(page.locator("#bar [data-option=agent]")).to_contain_text("Demo")
    field = page.get_by_label("Prompt", exact=True)
    expect(field).not_to_have_value("")
    assert "heron" in field.input_value()
    page.locator("#bar [data-do=rename]").click()
    page.get_by_label("Title of this session").fill("Heron <b>")
    page.get_by_label("Title of this session").press("Enter")
    expect(page.locator("#bar h1")).to_have_text("Heron <b>")


@pytest.mark.long
def test_commands_files_images_drafts_and_history(site: Site) -> None:
    session = site.session(SCRIPT)
    work = next(site.directory.glob("agent-*/work"))
    (work / "heron.py").write_text("x")
    page = site.page(f"/sessions/{session}")
    prompt(page, "begin")
    field = page.get_by_label("Prompt", exact=True)
    field.press_sequentially("/rev")
    expect(page.get_by_role("option", name="/review")).to_be_visible()
    field.press("Tab")
    expect(field).to_have_value("/review ")
    field.fill("see ")
    field.press_sequentially("@her")
    expect(page.get_by_role("option", name="heron.py")).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("see @heron.py ")
    picture = site.directory / "dot.png"
    picture.write_bytes(PIXEL)
    page.locator("#picker").set_input_files([str(picture)])
    expect(page.locator(".attached li")).to_contain_text("dot.png")
    assert is_kept(page, session)
    page.reload()
    expect(page.locator(".attached li img")).to_be_visible()  # with the draft
    expect(field).to_have_value("see @heron.py ")
    (site.directory / "empty.txt").touch()
    page.locator("#picker").set_input_files([str(site.directory / "empty.txt")])
    expect(page.locator(".toast")).to_contain_text("is empty")
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Heard: see @heron.py")
    expect(page.locator("#transcript .prompt img")).to_have_count(1)
    field.press("ArrowUp")
    expect(field).to_have_value("see @heron.py ")
    field.press("ArrowUp")
    expect(field).to_have_value("begin")
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(field).to_have_value("")
    field.fill("half a thought")
    awaited(lambda: page.evaluate("Object.values(localStorage).includes('half a thought')"))
    page.reload()
    expect(field).to_have_value("half a thought")
    expect(page.locator(".attached li")).to_have_count(0)  # they were sent
    field.fill("two")
    field.press("Shift+Enter")
    expect(field).to_have_value("two\n")


@pytest.mark.long
def test_on_a_phone_enter_breaks_the_line_and_everything_is_in_reach(site: Site) -> None:
    session = site.session(SCRIPT)
    page = site.page(f"/sessions/{session}", viewport=PHONE, has_touch=True, is_mobile=True)
    field = page.get_by_label("Prompt", exact=True)
    field.tap()
    field.press_sequentially("one")
    field.press("Enter")
    field.press_sequentially("two")
    expect(field).to_have_value("one\ntwo")
    send = page.get_by_role("button", name="Send", exact=True)
    box = send.bounding_box()
    assert box is not None
    assert box["width"] >= 40
    assert box["height"] >= 40
    assert box["y"] + box["height"] <= PHONE["height"]
    send.tap()
    expect(page.locator("#transcript")).to_contain_text("Heard: one")
    page.get_by_role("button", name="Agent, model and figures").tap()
    page.locator("#bar").get_by_role("button", name="More actions").tap()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Mode")).tap()
    page.get_by_role("dialog").get_by_role("button", name="Code").tap()
    page.get_by_role("button", name="Agent, model and figures").tap()
    expect(page.locator("#bar [data-option=mode]")).to_contain_text("Code")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
def test_a_read_only_daemon_has_no_composer(serving: object, tmp_path: Path) -> None:
    site = serving(read_only=True)  # type: ignore[operator]
    page = site.page(f"/sessions/{site.session(SCRIPT)}")
    expect(page.locator("#composer")).to_contain_text("read-only")
    assert tmp_path
    assert page.locator("#bar [data-do=pick]").count() == 0
