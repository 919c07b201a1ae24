"""Where the page tells something, and where its links are: in each width, nothing lies over
anything else, and nothing jumps from screen to screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.client.work_tree.trees import Tree
from tests.page.conftest import LAPTOP, PHONE, Site
from tests.page.test_access import TABLET

SIZES = {"1440": LAPTOP, "1024": TABLET, "390": PHONE}
SCREENS = ("/", "/inbox", "/new", "/search", "/usage", "/settings", "/settings/rules")
TELL = """async () => { const { toast } = await import(
    document.querySelector("script[type=module]").src);
  toast("Undone: a.txt", { action: { label: "Put it back", run() {} } });
  toast("There are uncommitted changes in the directory of this session.",
    { kind: "failed", remedy: "Commit them." }); }"""
COVERED = """() => { const box = document.querySelector("#toasts").getBoundingClientRect();
  return ["#column", "#main", "#side", "#composer", ".links.folded"].filter((name) => {
    const other = document.querySelector(name)?.getBoundingClientRect();
    return other?.width && other.top < box.bottom - 1 && box.top + 1 < other.bottom
      && other.left < box.right - 1 && box.left + 1 < other.right; }); }"""
PLACES = """() => Object.fromEntries([...document.querySelectorAll(".links a")]
  .filter((link) => link.offsetParent && link.pathname !== "/new").map((link) =>
    [link.pathname, [link, link.parentNode].flatMap((node) => {
      const box = node.getBoundingClientRect();
      return [Math.round(box.x), Math.round(box.y)]; }).slice(0, 2)]))"""


def told(page: Page) -> None:
    page.evaluate(TELL)
    expect(page.locator(".toast")).to_have_count(2)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_what_is_told_covers_nothing_and_moves_nothing(
    site: Site, tmp_path_factory: pytest.TempPathFactory, size: str
) -> None:
    tree = Tree(tmp_path_factory.mktemp("tree"), a__txt="one\n")
    edits = {"otherwise": [{"write": "a.txt", "content": "two\n"}, {"text": "Written."}]}
    session = site.session(edits, cwd=tree.cwd, title="Wrote")
    site.say(session, "go")
    page = site.page(f"/sessions/{session}?side=changes", viewport=SIZES[size])
    undo = page.get_by_role("button", name="Undo file")
    expect(undo).to_be_visible()
    before = undo.bounding_box()
    told(page)
    assert page.evaluate(COVERED) == []
    assert undo.bounding_box() == before
    close = page.locator(".toast").get_by_role("button", name="Close")
    for each in (close.first, close.last, page.get_by_role("button", name="Put it back")):
        expect(each).to_be_in_viewport(ratio=1)
    for path in ("/", "/inbox", "/settings/rules/new"):
        page.goto(site.served.address + path)
        told(page)
        assert page.evaluate(COVERED) == [], path


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_the_links_are_in_the_same_place_on_every_screen(
    serving: Callable[..., Site], size: str
) -> None:
    site = serving()
    page = site.page("/", viewport=SIZES[size])
    places = page.evaluate(PLACES)
    assert {"/inbox", "/search", "/usage", "/settings"} <= places.keys()
    for path in SCREENS:
        page.goto(site.served.address + path)
        now = page.evaluate(PLACES)
        assert {key: now.get(key) for key in places} == places, path
