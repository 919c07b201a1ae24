"""Changes and the timeline beside the transcript."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.client.work_tree.trees import WHO, Tree
from tests.page.conftest import PHONE, Site

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
    page.locator(".changes tr", has_text=line).first.hover()
    page.get_by_role("button", name="Comment on line").click()
    page.get_by_label("Comment", exact=True).fill(words)
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".said-on", has_text=words)).to_be_visible()


def test_a_review_undoes_a_hunk_sends_comments_as_one_prompt_and_commits(
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


@pytest.mark.long
def test_viewed_marks_last_until_the_file_changes(site: Site, tree: Tree) -> None:
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}/changes")
    files = page.get_by_role("navigation", name="Changed files")
    app = page.locator(".file", has=page.locator("h3", has_text="app.py"))
    beside, patch = files.bounding_box(), page.locator(".patch").bounding_box()
    assert beside
    assert patch
    assert beside["x"] + beside["width"] <= patch["x"] + 1, "the list stands beside"

    expect(app.locator("tr", has_text="line 20")).to_have_count(0)
    app.get_by_role("link", name="Show 20 unchanged lines").click()
    row = app.locator("tr", has_text="line 20")
    expect(row).to_be_visible()
    assert row.locator("td").all_inner_texts()[:2] == ["20", "20"]
    assert row.locator("xpath=preceding-sibling::tr[1]").inner_text().endswith("line 19")
    app.get_by_role("link", name="Show the rest of the file").click()
    expect(app.locator("tr", has_text="line 40")).to_be_visible()
    assert app.locator("tr", has_text="line 40").locator("td").all_inner_texts()[:2] == ["40", "39"]
    expect(app.get_by_role("link", name="Show the rest of the file")).to_have_count(0)
    comment(page, "line 20", "Between two hunks")

    app.get_by_label("Viewed").check()
    expect(app.locator(".hunk").first).to_be_hidden()
    expect(files).to_contain_text("3 files · 1 viewed")
    page.reload()
    expect(app.get_by_label("Viewed")).to_be_checked()
    expect(app.locator(".hunk").first).to_be_hidden()
    tree.put({"app.py": tree.read("app.py") + b"last\n"})
    page.reload()
    expect(app.get_by_label("Viewed")).not_to_be_checked()
    expect(app.locator(".hunk").first).to_be_visible()
    app.get_by_role("link", name="Whole file").click()
    expect(app.locator("tr", has_text="line")).to_have_count(40)
    expect(app.locator(".said-on", has_text="Between two hunks")).to_be_visible()
    app.get_by_role("link", name="Changes only").click()
    expect(app.locator("tr", has_text="line 20")).to_have_count(0)

    tree.put({"app.py": LINES})
    page.keyboard.press("v")
    expect(files).to_contain_text("viewed")


@pytest.mark.long
def test_the_changes_of_one_turn_are_shown_apart(site: Site, tree: Tree) -> None:
    tree.save()
    later = LINES.replace("line 5\n", "five\n")
    steps = {"write": "app.py", "content": later}, {"write": "other.txt", "content": "one\n"}
    script = {"turns": [[step] for step in steps]}
    session = site.session(script, cwd=tree.cwd, confirm="all")
    page = site.page(f"/sessions/{session}")
    for number, words in enumerate(("Change a line", "Make a file"), 1):
        site.say(session, words)
        expect(page.locator("#transcript .block.prompt")).to_have_count(number)
        expect(page.locator("#bar")).to_contain_text("idle")
    page.goto(f"{site.served.address}/sessions/{session}/changes")
    titles = page.locator(".file h3 .path")
    expect(titles).to_have_text(["app.py", "other.txt"])
    scope = page.get_by_label("What is compared")
    scope.select_option(label="Turn 2: Make a file")
    expect(titles).to_have_text(["other.txt"])
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.reload()
    expect(titles).to_have_text(["other.txt"])
    scope.select_option("turn=1")
    expect(titles).to_have_text(["app.py"])
    tree.put({"app.py": "all of it is another now\n"})
    page.get_by_role("link", name="Whole file").click()
    expect(page.locator(".changes tr", has_text="line 40")).to_be_visible()
    comment(page, "five", "Why?")
    scope.select_option("of=session")
    expect(titles).to_have_text(["app.py", "other.txt"])


@pytest.mark.long
def test_the_keyboard_alone_comments_on_a_range_of_lines(site: Site, tree: Tree) -> None:
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}/changes")
    page.locator(".changes tr[tabindex]", has_text="line 1").first.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".changes tr.chosen")).to_have_count(2)
    page.keyboard.press("c")
    page.keyboard.type("Both?")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said-on")).to_contain_text("Both?")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Comment", exact=True).fill("Both, really?")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said-on")).to_have_count(1)
    expect(page.locator(".said-on")).to_contain_text("Both, really?")
    page.get_by_role("button", name="Send 1 comment").click()
    expect(page.get_by_text("Comment sent")).to_be_visible()
    page.goto(f"{site.served.address}/sessions/{session}")
    sent = page.locator("#transcript .block.prompt")
    expect(sent).to_contain_text("Both, really?")
    expect(sent).to_contain_text("third = 3")


@pytest.mark.long
def test_undo_refuses_changed_files_and_a_failed_hook_is_shown(site: Site, tree: Tree) -> None:
    site.expected = ("409",)
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}/changes")
    hunk = page.locator(".hunk", has_text="third = 3")
    expect(hunk).to_be_visible()
    tree.put({"app.py": LINES.replace("line 3\n", "third = 3\nagent = 1\n")})
    hunk.get_by_role("button", name="Undo hunk").click()
    expect(page.get_by_text("app.py changed since it was shown.")).to_be_visible()
    expect(page.get_by_text("agent = 1")).to_be_visible()
    assert b"agent = 1" in tree.read("app.py")
    hook = tree.place / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho '<b>3 tests failed</b>' >&2\nexit 1\n")
    hook.chmod(0o755)
    page.reload()
    page.get_by_role("button", name="Commit…").click()
    expect(page.get_by_text("Runs pre-commit.")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("x")
    page.get_by_role("button", name="Commit", exact=True).click()
    question = page.get_by_role("dialog", name="Run these hooks?")
    expect(question).to_contain_text("pre-commit is new")
    expect(question.locator("pre")).to_contain_text("<b>3 tests failed</b>")
    question.get_by_role("button", name="Cancel").click()
    expect(page.locator(".commit .said")).to_be_hidden()
    page.get_by_role("button", name="Commit", exact=True).click()
    question.get_by_role("button", name="Run them and commit").click()
    expect(page.locator(".commit .said")).to_contain_text("<b>3 tests failed</b>")
    assert tree.git("log", "-1", "--format=%s") == "first\n"


@pytest.mark.long
def test_undo_asks_first_while_the_agent_works(site: Site, tree: Tree) -> None:
    session = site.session({"otherwise": [{"text": "hm"}, {"ask": "go on?"}]}, cwd=tree.cwd)
    site.say(session, "work")
    page = site.page(f"/sessions/{session}")
    expect(page.get_by_text("go on?").first).to_be_visible()
    page.locator("#scroll").press("d")
    side = page.locator("#side")
    undo = side.locator(".file", has_text="gone.txt").get_by_role("button", name="Undo file")
    undo.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("still working in this directory")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert not (tree.place / "gone.txt").exists()
    undo.click()
    dialog.get_by_role("button", name="Undo file").click()
    expect(side.locator(".file", has_text="gone.txt")).to_have_count(0)
    assert tree.read("gone.txt") == b"x\n"


@pytest.mark.long
def test_both_views_work_on_a_phone_and_without_scripts(site: Site, tree: Tree) -> None:
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}/changes")
    page.get_by_role("link", name="Split", exact=True).click()
    expect(page.locator(".hunk.two").first).to_be_visible()
    page.reload()
    expect(page.locator(".hunk.two").first).to_be_visible()
    plain = site.page(f"/sessions/{session}/changes?view=split", java_script_enabled=False)
    expect(plain.locator(".hunk.two mark").first).to_be_visible()
    phone = site.page(f"/sessions/{session}", viewport=PHONE, has_touch=True)
    phone.get_by_role("button", name="Changes").tap()
    files = phone.locator("#side .files")
    expect(files.locator("a").first).to_be_hidden()
    files.get_by_role("button", name="3 files").tap()
    files.locator("a", has_text="gone.txt").tap()
    expect(files.locator("a").first).to_be_hidden()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    row = phone.locator("#side tr", has_text="third = 3")
    row.tap()
    phone.get_by_role("button", name="Comment on line").tap()
    phone.get_by_label("Comment", exact=True).fill("On a phone")
    phone.get_by_role("button", name="Comment", exact=True).tap()
    expect(phone.locator(".said-on")).to_be_visible()
    wide = phone.evaluate("document.querySelector('.said-on').getBoundingClientRect().right")
    assert wide <= PHONE["width"]


@pytest.mark.long
def test_a_read_only_daemon_offers_no_changes(serving: Callable[..., Site], tree: Tree) -> None:
    site = serving(read_only=True)
    session = site.session(cwd=tree.cwd)
    page = site.page(f"/sessions/{session}/changes")
    expect(page.get_by_text("third = 3")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.get_by_role("button", name="Commit")).to_have_count(0)
    page.locator(".changes tr", has_text="third = 3").locator("td").nth(1).click()
    expect(page.locator(".composing")).to_have_count(0)
