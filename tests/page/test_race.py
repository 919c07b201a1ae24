"""A race on the page: started, compared, each diff read, one picked, another dropped."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.client.work_tree.trees import WHO, Tree
from tests.page.conftest import PHONE, Site
from tests.page.test_access import complaints
from tests.page.test_new import configured
from tests.rigs.player import player

TASK = "Sum the prices, not the items."
LOOP, SUM = "total = 0\n", "total = sum(prices)\n"
RUN = {"kind": "execute", "rawInput": {"command": "pytest -q"}}
RUNNERS: dict[str, list[Any]] = {
    "finch": [{"write": "app.py", "content": SUM}, {"text": "Summed."}],
    "robin": [
        {"write": "app.py", "content": LOOP},
        {"write": "test_app.py", "content": "assert True\n"},
        {"text": "Summed in a loop."},
    ],
    "wren": [{"error": "connection reset"}],
    "heron": [{"ask": "Run the tests", **RUN, "allowed": [{"text": "They pass."}]}],
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    return Tree(tmp_path / "tree", app__py="total = None\n")


@pytest.fixture
def site(serving: Callable[..., Site], tmp_path: Path, tree: Tree) -> Site:
    site = serving()
    agents = {}
    for name, steps in RUNNERS.items():
        script = tmp_path / f"{name}.json"
        script.write_text(json.dumps({"otherwise": steps}))
        agents[name] = player(str(script))
    configured(site, **agents)
    return site


def started(site: Site, tree: Tree) -> Page:
    """From the form; three of the four agents have ended, the last one asks."""
    page = site.page("/new")
    page.get_by_label("Directory").fill(tree.cwd)
    page.get_by_label("Agent", exact=True).select_option("finch")
    page.get_by_text("More: effort").click()
    rivals = page.get_by_role("group", name="Race other agents")
    for name in ("robin", "wren", "heron"):
        rivals.get_by_label(name).check()
    page.get_by_label("First prompt").fill(TASK)
    page.get_by_label("First prompt").press("Enter")
    page.wait_for_url("**/races/*")
    states = page.locator('.race td[data-name="State"]')
    expect(states).to_have_text(["done", "done", "failed", "needs you"])
    expect(states.locator(".failed, .needs")).to_have_text(["failed", "needs you"])
    expect(page.locator(".race")).not_to_contain_text("No tests ran")
    return page


def runner(page: Page, name: str) -> Any:
    return page.locator(".race tbody tr", has=page.get_by_role("link", name=name, exact=True))


@pytest.mark.long
def test_a_race_is_started_compared_and_decided_with_a_message_of_ones_own(
    site: Site, tree: Tree
) -> None:
    site.expected = ("409",)  # what would be dropped is shown first
    page = started(site, tree)
    race = page.url
    expect(page.locator(".task")).to_have_text(TASK)
    changes = page.locator('.race td[data-name="Changes"]')
    found = ["1 file, +1 −1", "2 files, +2 −1", "changed nothing", "nothing yet"]
    expect(changes).to_have_text(found)
    for name, line in (("finch", SUM), ("robin", LOOP)):
        runner(page, name).get_by_role("link", name="file").click()
        expect(page.locator("tr.add", has_text=line.strip())).to_be_visible()
        page.goto(race)

    runner(page, "finch").get_by_role("button", name="Pick").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 file, +1 −1, into main.")
    expect(dialog).to_contain_text("Delete 3 worktrees with all changes:")
    expect(dialog).to_contain_text("robin 2 files, +2 −1")
    expect(dialog).to_contain_text("Commit message:\n  Change app.py")
    assert complaints(page) == []
    page.keyboard.press("Escape")
    expect(runner(page, "finch").get_by_role("button", name="Pick")).to_be_focused()
    assert tree.git("rev-list", "--count", "HEAD") == "1\n", "nothing is merged yet"

    page.keyboard.press("Enter")
    dialog.get_by_label("Message").fill("Sum the prices")
    expect(dialog.locator(".shown")).to_contain_text("Commit message:\n  Sum the prices")
    dialog.get_by_role("button", name="Merge it, drop the rest").click()
    told = page.locator(".toast")
    expect(told).to_contain_text("Merged into main: 1 file, +1 −1")
    expect(told).to_contain_text("Dropped 3 others.")
    states = page.locator('.race td[data-name="State"]')
    expect(states).to_have_text(["merged", "dropped", "dropped", "dropped"])
    expect(page.get_by_role("button", name="Drop all")).to_have_count(0)
    assert tree.read("app.py") == SUM.encode()
    assert "Sum the prices\n" in tree.git("log", "--format=%s")
    assert tree.git("worktree", "list").count("\n") == 1


@pytest.mark.long
def test_a_race_is_left_and_dropped_on_a_phone(site: Site, tree: Tree) -> None:
    site.expected = ("409",)  # what would be dropped is shown first
    race = started(site, tree).url
    phone = site.page(viewport=PHONE, has_touch=True, is_mobile=True)
    phone.goto(race)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.get_by_role("link", name="All sessions").tap()
    expect(phone.locator("#list li")).to_have_count(4)
    phone.goto(race)
    phone.get_by_role("button", name="Drop all").tap()
    dialog = phone.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 4 worktrees?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Delete").tap()
    expect(phone.locator(".toast")).to_contain_text("Dropped 4 worktrees.")
    expect(phone.locator('.race td[data-name="State"]')).to_have_text(["dropped"] * 4)
    assert tree.git("worktree", "list").count("\n") == 1
    assert tree.read("app.py") == b"total = None\n"
