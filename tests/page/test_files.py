"""Links in answers, and files of the session that paths in the transcript lead to."""

from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.export.sessions import chunk, prompt, said, session, tool, turn
from tests.page.conftest import PHONE, Site
from tests.page.test_access import complaints
from tests.page.test_live import logged

NUMBERS = count(1)
LINES = "".join(f"line_{n} = {n}\n" for n in range(1, 1_501))


def made(site: Site, tree: Path) -> str:
    """The address of a session that names files of this directory."""
    (tree / "src").mkdir(parents=True, exist_ok=True)
    (tree / "src/app.py").write_text(LINES)
    (tree / "src/wide.txt").write_text("wide " * 300 + "\n<script>alert(1)</script>\n")
    (tree / ".env").write_text("TOKEN=hush\n")
    name = f"files{next(NUMBERS)}"
    where = [{"path": str(tree / "src/app.py"), "line": 1_200}]
    edit = {"type": "diff", "path": str(tree / "src/app.py"), "oldText": "a\nb\n"}
    answer = "See src/app.py:42 and `src/wide.txt`, not src/none.py:3. [Notes](https://a.org/n)"
    return logged(
        site,
        name,
        [
            session(id=name, cwd=str(tree)),
            prompt("Look"),
            turn("running"),
            tool("c1", "Read app.py", "read", locations=where, content=said("x")),
            tool("c2", "Edit", "edit", content=[{**edit, "newText": "a\nc\n"}]),
            tool(
                "c3",
                "grep",
                "execute",
                rawInput={"command": "grep x"},
                content=said("src/app.py:7: x"),
            ),
            chunk(f"{answer}. It is so[^1].\n\n[^1]: Said there: [.env](.env)"),
            turn("ended"),
        ],
    )


@pytest.mark.parametrize("screen", [{}, {"viewport": PHONE, "has_touch": True}])
def test_a_path_in_the_transcript_leads_to_the_line_of_the_file(
    site: Site, tmp_path: Path, screen: dict[str, object]
) -> None:
    page = site.page(made(site, tmp_path / "tree"), **screen)
    side = page.locator("#side")
    link = page.locator(".answer .target")
    expect(link).to_have_text("(a.org)")
    assert page.locator(".answer a", has_text="Notes").get_attribute("target") == "_blank"
    named = page.locator(".answer a.file-link")
    expect(named).to_have_text(["src/app.py:42", "src/wide.txt", ".env"])
    named.first.click()
    expect(side.locator("tr.here")).to_contain_text("line_42 = 42")
    expect(side.locator("tr.here")).to_be_in_viewport()
    expect(side.locator(".t-literal-number").first).to_be_visible()
    expect(side.locator("#L500")).to_have_count(0)
    side.locator(".patch").evaluate("(node) => { node.scrollTop = node.scrollHeight; }")
    expect(side.locator("#L500")).to_have_count(1)
    side.get_by_label("Go to a file").fill("wide:2")
    page.get_by_role("option", name="src/wide.txt").click()
    expect(side.locator("tr.here")).to_have_text("2<script>alert(1)</script>")
    wide = "(node) => node.scrollWidth > node.clientWidth + 1"
    assert side.locator(".patch").evaluate(wide)
    side.get_by_role("button", name="Wrap").click()
    assert not side.locator(".patch").evaluate(wide)
    side.locator(".patch").press("Escape")
    expect(side).to_be_hidden()


def test_a_call_leads_to_what_it_read_and_a_file_opens_alone(site: Site, tmp_path: Path) -> None:
    page = site.page(made(site, tmp_path / "tree"))
    side = page.locator("#side")
    page.locator(".tool summary .file-link", has_text="app.py").first.click()
    expect(side.locator("tr.here")).to_contain_text("line_1200 = 1200")
    assert not complaints(page)
    first = side.locator("tr[id]").first.inner_text()
    side.locator(".patch").evaluate("(node) => { node.scrollTop = 0; }")
    expect(side.locator("tr[id]").first).not_to_have_text(first)
    page.goto(f"{page.url}/file?path=.env")
    expect(page.locator(".viewer .patch")).to_contain_text("TOKEN=•••")
    page.goto(page.url.replace(".env", "/etc/passwd"))
    expect(page.locator(".viewer .empty")).to_contain_text("outside the session's directories")
    page.get_by_label("Go to a file").fill("app")
    page.get_by_role("option").first.click()
    expect(page.locator("#L1")).to_contain_text("line_1 = 1")
    assert "path=src%2Fapp.py" in page.url


def test_a_device_that_may_look_reads_files(site: Site, tmp_path: Path) -> None:
    page = site.page(made(site, tmp_path / "tree"), role="look")
    page.locator("#scroll").press("p")
    expect(page.get_by_role("navigation", name="Files", exact=True)).to_contain_text("src/app.py")


def test_of_many_files_those_that_can_be_read_are_listed_by_their_names(
    site: Site, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    address = made(site, tree)
    (tree / "a_link").symlink_to("/etc/passwd")
    (tree / "<b>&?#%41.txt").write_text("odd\n")
    page = site.page(f"{address}/file")
    links = page.get_by_role("navigation", name="Files", exact=True).get_by_role("link")
    expect(links).to_have_text([".env", "<b>&?#%41.txt", "src/app.py", "src/wide.txt"])
    expect(page.get_by_text("There are more files")).to_have_count(0)
    links.nth(1).click()
    expect(page.locator("#L1")).to_have_text("1odd")
    (tmp_path / "many").mkdir()
    for number in range(150):
        (tmp_path / f"many/{number:03}.bin").write_bytes(b"\0")
    page.goto(f"{site.served.address}{made(site, tmp_path / 'many')}/file")
    expect(page.get_by_text("There are more files")).to_be_visible()
    links.last.click()
    expect(page.get_by_text("Binary file.")).to_be_visible()
    expect(page.get_by_role("button", name="Wrap")).to_have_count(0)
    expect(page.get_by_role("button", name="Copy path")).to_be_visible()
