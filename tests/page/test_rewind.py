"""On the page the timeline takes a session back to a turn, or forks it there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.client.work_tree.trees import WHO, Tree
from tests.page.conftest import PHONE, Site
from tests.page.test_search import awaited, said


def test_rewind_undo_and_fork_from_the_timeline(site: Site) -> None:
    site.expected = ("409",)  # of what would happen
    session = site.session()
    for words in ("first question", "second question", "third question"):
        said(site, session, words)
    page = site.page(f"/sessions/{session}")
    page.locator("#scroll").press("t")
    turns = page.locator("#side .turns li")
    turns.nth(0).get_by_role("button", name="Rewind to here").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 later turns are hidden, not deleted.")
    transcript = page.locator("#transcript")
    expect(transcript).to_contain_text("third question")
    dialog.get_by_role("button", name="Rewind", exact=True).click()
    expect(transcript).to_contain_text("Rewound to turn 1", timeout=60_000)
    expect(transcript).to_contain_text("first question")
    expect(transcript).not_to_contain_text("third question")
    page.get_by_role("button", name="Undo", exact=True).click()
    dialog.get_by_role("button", name="Undo the rewind").click()
    expect(transcript).to_contain_text("third question", timeout=60_000)
    page.locator("#scroll").press("t")
    turns.nth(1).get_by_role("button", name="Fork here").click()
    page.get_by_role("dialog").get_by_role("button", name="Fork", exact=True).click()
    expect(page).not_to_have_url(re.compile(session), timeout=60_000)
    expect(transcript).to_contain_text(f"Forked from {session} at turn 2")
    expect(transcript).not_to_contain_text("third question")


def test_the_users_own_files_stay_unless_the_list_is_agreed_to(site: Site, tmp_path: Path) -> None:
    """On a phone. Files that change while the question stands are asked about again."""
    site.expected = ("409",)  # of what would happen
    tree = Tree(tmp_path / "tree", a__txt="one\n", b__txt="one\n")
    session = site.session(cwd=tree.cwd, confirm="all")
    said(site, session, "first question")
    said(site, session, '{"play": [{"write": "a.txt", "content": "agent"}]}')
    events = f"/api/sessions/{session}/events"
    awaited(lambda: '"turn":2,"when":"end"' in str(site.served.ask("GET", events).body), within=60)
    tree.put({"b.txt": "mine\n", "new.txt": "precious\n"})
    page = site.page(f"/sessions/{session}", viewport=PHONE)
    page.locator("#scroll").press("t")
    page.locator("#side").get_by_role("button", name="Rewind to here").first.click()
    dialog = page.get_by_role("dialog").filter(has_text="Rewind to turn 1?")
    shown = dialog.locator(".shown")
    expect(shown).to_contain_text(
        "Changed by this session:\n  ~ a.txt\n"
        "Changed by hand or by another program since, left alone:\n  ~ b.txt\n  - new.txt\n"
    )
    wide = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(wide)
    assert tree.read("a.txt") == b"agent", "nothing happened yet"
    tree.put({"a.txt": "mine, too\n"})
    yes = dialog.get_by_role("button", name="Rewind", exact=True)
    yes.click()
    expect(shown).to_contain_text("It is no longer as it was shown.")
    expect(shown).to_contain_text("  ~ a.txt\n  ~ b.txt\n  - new.txt\nTo turn 1: No file would")
    assert tree.read("a.txt") == b"mine, too\n"
    dialog.get_by_label("Files").check()
    dialog.get_by_label("All").check()
    expect(shown).to_contain_text("To turn 1: 3 files would change.")
    expect(shown).not_to_contain_text("hidden")
    yes.click()
    expect(page.locator("#toasts")).to_contain_text("Rewound to turn 1.")
    assert tree.status() == ""


@pytest.mark.long
def test_forks_with_worktrees_are_merged_and_dropped(
    serving: Callable[..., Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    site = serving()
    site.expected = ("409",)  # of work that was not merged
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    session = site.session(cwd=tree.cwd, confirm="all")
    said(site, session, "first question")
    page = site.page()
    menu = page.locator("#bar .acts").get_by_role("button", name="More actions")

    def fork() -> Path:
        page.goto(f"{site.served.address}/sessions/{session}")
        page.locator("#scroll").press("t")
        page.locator("#side").get_by_role("button", name="Fork here").first.click()
        page.get_by_role("dialog").get_by_label("In a git worktree of its own").check()
        page.get_by_role("dialog").get_by_role("button", name="Fork", exact=True).click()
        expect(page).not_to_have_url(re.compile(session), timeout=60_000)
        made = page.url.rpartition("/")[2]
        return Path(site.served.ask("GET", f"/api/sessions/{made}").json()["cwd"])

    (fork() / "a.txt").write_text("two\n")
    assert tree.read("a.txt") == b"one\n"
    menu.click()
    page.get_by_role("dialog").get_by_role("button", name="Merge the worktree").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("Merged into main")
    assert tree.read("a.txt") == b"two\n"

    other = fork()
    (other / "a.txt").write_text("three\n")
    menu.click()
    page.get_by_role("dialog").get_by_role("button", name="Drop the worktree").click()
    question = page.get_by_role("dialog", name="Drop the worktree: ")
    expect(question).to_contain_text("has work that was not merged: 1 uncommitted file.")
    question.get_by_role("button", name="Drop the worktree").click()
    expect(page.locator("#toasts")).to_contain_text("Dropped the worktree of")
    assert tree.read("a.txt") == b"two\n"
    assert not other.exists()
    menu.click()
    expect(page.get_by_role("button", name="Drop the worktree")).to_have_count(0)
