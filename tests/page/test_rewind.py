"""S5 on the page: the timeline takes a session back to a turn, or forks it there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.client.work_tree.trees import WHO, Tree
from tests.page.conftest import Site
from tests.page.test_search import said


def test_S5_rewind_undo_and_fork_from_the_timeline(site: Site) -> None:
    session = site.session()
    for words in ("first question", "second question", "third question"):
        said(site, session, words)
    page = site.page(f"/sessions/{session}")
    page.locator("#scroll").press("t")
    turns = page.locator("#side .turns li")
    turns.nth(0).get_by_role("button", name="Rewind to here").click()
    transcript = page.locator("#transcript")
    expect(transcript).to_contain_text("Rewound to turn 1", timeout=60_000)
    expect(transcript).to_contain_text("first question")
    expect(transcript).not_to_contain_text("third question")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(transcript).to_contain_text("third question", timeout=60_000)
    page.locator("#scroll").press("t")
    turns.nth(1).get_by_role("button", name="Fork here").click()
    page.get_by_role("dialog").get_by_role("button", name="Fork", exact=True).click()
    expect(page).not_to_have_url(re.compile(session), timeout=60_000)
    expect(transcript).to_contain_text(f"Forked from {session} at turn 2")
    expect(transcript).not_to_contain_text("third question")


@pytest.mark.long
def test_I16_a_fork_with_a_worktree_is_merged_and_one_that_is_not_is_dropped(
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
    page.get_by_role("dialog").get_by_role("button", name="Drop it").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(page.locator("#toasts")).to_contain_text("The worktree was dropped.")
    assert tree.read("a.txt") == b"two\n"
    assert not other.exists()
    menu.click()
    expect(page.get_by_role("button", name="Drop the worktree")).to_have_count(0)
