"""V6, V12: changes and the timeline beside the transcript."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.client.work_tree.trees import WHO, Tree
from tests.page.conftest import Site

LINES = "".join(f"line {n}\n" for n in range(1, 41))


@pytest.fixture(scope="module", autouse=True)
def identity() -> Any:
    """The daemon's, which commits: it is started after this."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in WHO.items():
            patch.setenv(key, value)
        yield


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "tree", app__py=LINES, gone__txt="x\n")
    tree.put({"app.py": LINES.replace("line 3\n", "third = 3\n").replace("line 30\n", "")})
    tree.put({"<b>new</b>.txt": "<script>alert(1)</script>\n"})
    (tree.place / "gone.txt").unlink()
    return tree


def comment(page: Page, line: str, words: str) -> None:
    page.locator(".changes tr", has_text=line).first.locator("td").nth(1).click()
    page.get_by_label("Comment", exact=True).fill(words)
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".said-on", has_text=words)).to_be_visible()


def test_V6_a_review_undoes_a_hunk_sends_comments_as_one_prompt_and_commits(
    site: Site, tree: Tree
) -> None:
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}")
    page.locator("#scroll").press("d")
    side = page.locator("#side")
    expect(side.get_by_role("navigation", name="Changed files")).to_contain_text("app.py")
    hunk = side.locator(".hunk", has_text="third = 3")
    expect(hunk.locator("mark").first).to_be_visible()
    hunk.get_by_role("button", name="Undo hunk").click()
    expect(side.get_by_text("third = 3")).to_have_count(0)
    assert tree.read("app.py").decode() == LINES.replace("line 30\n", "")
    page.get_by_role("button", name="Put it back").click()
    expect(side.get_by_text("third = 3")).to_be_visible()
    comment(page, "third = 3", "Why three?")
    comment(page, "<script>", "Is this\nneeded?")
    page.reload()
    page.locator("#scroll").press("d")
    expect(side.locator(".said-on")).to_have_count(2)
    side.get_by_role("button", name="Send 2 comments").click()
    sent = page.locator("#transcript .block.prompt")
    expect(sent).to_have_count(1)
    expect(sent).to_contain_text("app.py:3")
    expect(sent).to_contain_text("Why three?")
    expect(side.locator(".said-on")).to_have_count(0)
    side.get_by_role("button", name="Commit…").click()
    page.get_by_label("Message", exact=True).fill("Count to three")
    page.get_by_role("button", name="Commit", exact=True).click()
    expect(side.get_by_text("Nothing to review.")).to_be_visible()
    assert tree.git("log", "-1", "--format=%s") == "Count to three\n"
    assert tree.status() == ""
