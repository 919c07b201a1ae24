"""The list of sessions: what needs you first, found by keys and kept up to date."""

from typing import Any

import pytest
from playwright.sync_api import expect

from rookery.core.header import EMPTY
from rookery.core.view import doing
from rookery.core.view.fleet import head_of
from rookery.daemon.pieces import fleet_list
from rookery.daemon.pieces.fleet_list import ListQuery
from rookery.render.local_time import age
from tests.daemon.served import awaited
from tests.page.conftest import PHONE, Site
from tests.page.test_asks import RUN

NOW = 1_800_000_000_000.0
SLOW = {
    "otherwise": [{"tool": "pytest -q", "kind": "execute", "status": "in_progress"}, {"wait": 600}]
}
QUICK = {"otherwise": [{"text": "Done: six files changed."}]}


def head(name: str, **fields: Any) -> dict[str, Any]:
    made = head_of(EMPTY.with_(id=name, title=name, agent="claude", cwd="/srv/shop", turn=1), 9, 0)
    given = {
        "awake": False,
        "worker": None,
        "unread": False,
        "at": NOW - 60_000,
        "since": NOW - 60_000,
    }
    return made | given | fields


def titles(html: str) -> list[str]:
    return [piece.partition('"')[0] for piece in html.split('data-id="')[1:]]


def test_what_needs_you_comes_first() -> None:
    """Asks, failures, finished and unread, then running, then idle."""
    heads = [
        head("idle", awake=True),
        head("asleep", at=NOW - 1),
        head("held", queue=3),
        head("read", unread=True),
        head("runs", state="running", awake=True),
        head("fails", reason="failed", unread=True),
        head("asks", asks=1),
        head("away", archived=True),
        head("later", snoozed=int(NOW + 1000)),
    ]
    order = titles(fleet_list.screen(heads, NOW))
    assert order == ["asks", "fails", "read", "runs", "held", "idle", "asleep"]
    assert titles(fleet_list.screen(heads, NOW, ListQuery(show="waiting"))) == ["held"]
    finished = titles(fleet_list.screen(heads, NOW, ListQuery(show="finished")))
    assert finished == ["read", "idle", "asleep"], "an address of an earlier build"
    assert titles(fleet_list.column(heads, NOW)) == order
    assert titles(fleet_list.screen(heads, NOW, ListQuery(show="archived"))) == ["away"]
    assert titles(fleet_list.screen(heads, NOW, ListQuery(show="snoozed"))) == ["later"]
    assert titles(fleet_list.screen(heads, NOW, ListQuery(query="CLAUDE fail"))) == ["fails"]
    assert 'data-needs="2"' in fleet_list.column(heads, NOW)


def test_a_row_says_what_matters() -> None:
    """Agent, title, what it does, plan, cost, age, directory; whatever its text is."""
    usage = {"cost": {"amount": 0.42, "currency": "USD"}}
    given = {"title": "<script>x</script>", "plan": [2, 4], "usage": usage, "doing": "run `ls <b>`"}
    html = fleet_list.column([head("one", **given)], NOW)
    for words in ("Claude", "plan 2/4", "$0.42", "/srv/shop", "<code>ls &lt;b&gt;</code>", "1 min"):
        assert words in html
    assert "<script" not in html


def test_many_sessions_have_pages() -> None:
    """A list of a thousand shows the hundred that matter most."""
    heads = [head(f"s{number:04}", at=NOW - number) for number in range(1000)]
    html = fleet_list.screen(heads, NOW)
    assert len(titles(html)) == fleet_list.PAGE
    assert "1–100 of 1,000" in html
    assert titles(fleet_list.screen(heads, NOW, ListQuery(page=9)))[-1] == "s0999"
    assert len(titles(fleet_list.column(heads, NOW, session="s0999"))) == fleet_list.COLUMN + 1
    assert "No sessions yet" in fleet_list.screen([], NOW)


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        *((-9, "0 s"), (0.5, "0 s"), (5, "5 s"), (59.9, "59 s"), (60, "1 min"), (240, "4 min")),
        *((3 * 3600, "3 h"), (26 * 3600, "1 d"), (7 * 86_400 - 1, "6 d")),
        *((20 * 86_400, "26 Dec"), (400 * 86_400, "Dec 2025")),
    ],
)
def test_ages_are_short(ago: float, words: str) -> None:
    assert age(NOW - ago * 1000, NOW) == words


def test_what_a_session_does_follows_its_calls() -> None:
    """The call that runs, else whether it thinks or writes."""
    at = doing.Doing()
    call = {"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute", "title": "x"}
    at = doing.after(at, {"sessionUpdate": "agent_thought_chunk"}, "/")
    assert at.text == "thinking"
    at = doing.after(at, {**call, "rawInput": {"command": "pytest -q"}}, "/")
    assert at.text == "run `pytest -q`"
    at = doing.after(at, {**call, "toolCallId": "2", "kind": "read", "title": "Read /a/b.py"}, "/a")
    assert at.text == "read `b.py`"
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "2", "status": "completed"}
    assert doing.after(at, done, "/a").text == "run `pytest -q`"
    assert doing.after(at, {"sessionUpdate": "_turn", "state": "idle"}, "/") == doing.Doing()


def test_the_list_lives_and_obeys_keys(site: Site) -> None:
    """News appear by themselves, are spoken and told by the tab; j, k, Enter, /."""
    quick, asking = site.session(QUICK, title="Quick one"), site.session(RUN, title="Asking one")
    page = site.page("/")
    rows = page.locator("#list li")
    expect(rows).to_have_count(2)
    site.say(asking, "go")
    needs = page.locator("#list section", has=page.get_by_role("heading", name="Needs you"))
    expect(needs.locator("li")).to_contain_text(["Asking one"])
    expect(needs.locator(".doing")).to_contain_text("wants to run")
    expect(page).to_have_title("● 1 needs you · Rookery")
    expect(page.locator('link[rel=icon][href*="favicon-needs"]')).to_have_count(1)
    expect(page.locator("#assertive")).to_contain_text("Asking one needs you")
    page.keyboard.press("/")
    page.keyboard.type("quick")
    expect(page.locator("#list li:visible")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#list li:visible")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sessions/{quick}")


def test_a_second_ask_and_the_end_are_announced(site: Site) -> None:
    """Also where the session does not seem to have changed between two looks at it."""
    asks = [
        {"ask": line, "kind": "execute", "rawInput": {"command": line}}
        for line in ("make one", "make two")
    ]
    session = site.session({"turns": [[*asks, {"text": "Both made."}]]}, title="Two asks")
    page = site.page(f"/sessions/{session}")
    site.say(session, "go")
    for line in ("make one", "make two"):
        expect(page.locator("#assertive")).to_contain_text(f"wants to run {line}")
        page.locator(".asked", has_text=line).locator(".answers button").first.click()
    expect(page.locator("#polite")).to_contain_text("Two asks is done")


# --- variants ------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_session_is_renamed_pinned_put_away_and_deleted(site: Site) -> None:
    """What a row's menu does."""
    site.session(QUICK, title="Mine")
    page = site.page("/")
    row = page.locator("#list li", has_text="Mine")
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_label("Title").fill("Yours")
    page.get_by_label("Title").press("Enter")
    row = page.locator("#list li", has_text="Yours")
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Pin").click()
    expect(row).to_have_attribute("data-pinned", "")
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(row).to_have_count(0)
    page.locator(".toast", has_text="Archived").get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


@pytest.mark.long
def test_the_list_works_without_scripts_and_on_a_phone(site: Site) -> None:
    """Filters, groups and pages are links."""
    session = site.session(QUICK, title="Readable <b>text</b>")
    awaited(lambda: session in str(site.served.ask("GET", "/api/sessions").json()))
    page = site.page("/", java_script_enabled=False, viewport=PHONE)
    expect(page.get_by_text("Readable <b>text</b>")).to_be_visible()
    page.get_by_role("link", name="Group by directory").click()
    expect(page.get_by_role("link", name="Group by state")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_deleted_session_is_brought_back_by_undo_and_from_the_trash(site: Site) -> None:
    session = site.session(QUICK, title="Kept words")
    page = site.page("/")
    row = page.locator("#list li", has_text="Kept words")
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)

    page.goto(f"{site.served.address}/sessions/{session}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").last.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.goto(f"{site.served.address}/settings/trash")
    restore = page.get_by_role("button", name="Restore: Kept words")
    restore.click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    expect(restore).to_have_count(0)
    page.goto(f"{site.served.address}/")
    expect(row).to_have_count(1)


def test_the_trash_says_what_goes_before_it_deletes_permanently(site: Site) -> None:
    site.expected = ("409",)
    for title in ("One word", "Other words", "More words"):
        site.served.ask("DELETE", f"/api/sessions/{site.session(QUICK, title=title)}")
    page = site.page("/settings/trash")
    page.get_by_role("button", name="Delete permanently: One word").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("One word")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete permanently: One word").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted permanently.")).to_be_visible()
    expect(page.get_by_role("button", name="Delete permanently: One word")).to_have_count(0)
    page.get_by_role("button", name="Empty the trash").click()
    expect(dialog).to_contain_text("More words")
    dialog.get_by_role("button", name="Empty").click()
    expect(page.get_by_text("The trash is empty.").first).to_be_visible()
