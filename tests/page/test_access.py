"""Every screen for everybody: axe-core finds nothing, keys alone reach everything, and what there
is to read can be read without JavaScript.

axe-core comes from npm when the tests run; it is no part of Rookery.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.routing import Route

from rookery.daemon.page import ROUTERS
from tests.acp.packages import node_modules
from tests.page.conftest import LAPTOP, PHONE, Site
from tools.pictures.scenes import CLEAN, DARK, LOGIN, RELEASE

AXE = "axe-core@4.10.3"
TABLET = {"width": 1024, "height": 768}
SCREENS = (
    "/",
    "/inbox",
    "/new",
    "/search?q=timeout",
    "/usage",
    "/settings",
    "/settings/models",
    "/settings/models/new",
    "/settings/servers",
    "/settings/servers/new",
    "/settings/servers/login?name=tracker",
    "/settings/agents",
    "/settings/agents/login?name=claude",
    "/settings/rules",
    "/settings/rules/new",
    "/settings/rules/edit?name=no-secrets",
    "/settings/worker",
    "/settings/sandbox",
    "/settings/limits",
    "/settings/critic",
    "/settings/condenser",
    "/settings/interface",
    "/settings/notify",
    "/settings/devices",
    "/settings/trash",
    "/api/docs",
    "/api/docs",
)
NOT_SCREENS = (
    "/races/",  # of a race: the page of one has a test of its own
    "/offline",  # it leaves by itself where Rookery is there
    "/assets/",
    "/pieces/",
    "/favicon",
    "/manifest",
    "/sw.js",
    "/apple-touch-icon",
    "/icon-",
)
RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  // The arrows of the field that has the suggestions scroll them.
  const scrolled = (each) => each.id === "scrollable-region-focusable"
    && each.nodes.every((node) => node.html.includes('class="offers"'));
  return found.violations.filter((each) => !scrolled(each)).map((each) =>
    `${each.id}: ${each.help}: ` + each.nodes.slice(0, 5).map((node) => node.html.slice(0, 160)
      + " " + (node.any[0]?.message ?? "")).join(" | "));
}"""


def read(site: Site, page: Page, steps: list[Any], title: str, until: str) -> str:
    name = site.session({"turns": [steps]}, title=title)
    site.say(name, "Go on.")
    page.goto(f"{site.served.address}/sessions/{name}")
    expect(page.locator("#transcript").get_by_text(until).first).to_be_visible()
    return name


MADE: dict[str, list[str]] = {}
"""By home: one set of sessions is enough for all tests of a daemon."""


@pytest.fixture
def sessions(site: Site) -> list[str]:
    """Addresses of sessions that ask, wait and are done."""
    if site.served.home not in MADE:
        MADE[site.served.home] = _made(site)
    return MADE[site.served.home]


def _made(site: Site) -> list[str]:
    for do, name in (("deny", "no-secrets"), ("allow", "mine")):
        rule = {"do": do, "path": "**/.env", "name": name}
        site.served.ask("PATCH", "/api/setup/forms/rules", {"values": rule, "confirm": True})
    server = {"name": "tracker", "kind": "http", "url": "https://tracker.example/mcp"}
    site.served.ask("PATCH", "/api/setup/forms/servers", {"values": server, "confirm": True})
    page = site.page()  # one for all: another takes a second of processor time
    told = [{"thought": "Hm."}, {"plan": ["a", "b"], "done": 1}, {"text": DARK}]
    done = read(site, page, told, "Dark mode for settings", "The switch follows the system")
    asks = read(site, page, LOGIN, "Fix flaky login test", "--count 50")
    question = read(site, page, RELEASE, "Prepare the release", "How shall the release be made")
    danger = read(site, page, CLEAN, "Free disk space", "rm -rf build")
    page.close()
    found = [f"/sessions/{name}" for name in (done, asks, question, danger)]
    return [*found, *(f"{found[1]}/{name}" for name in ("changes", "timeline", "file"))]


def complaints(page: Page) -> list[str]:
    """What axe-core has against a page as it is now."""
    page.evaluate((node_modules(AXE) / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    return [str(each) for each in page.evaluate(RUN)]


def check(site: Site, paths: list[str], viewport: dict[str, int], theme: str) -> None:
    page = site.page(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
    found: list[str] = []
    for path in paths:
        page.goto(site.served.address + path)
        page.wait_for_load_state("networkidle")
        found += [f"{path}: {each}" for each in complaints(page)]
    assert not found, "\n".join(found)


def test_each_kind_of_screen_is_accessible(site: Site, sessions: list[str]) -> None:
    """A list, forms, a table, a session that asks what cannot be undone, changes."""
    kinds = ["/", "/new", "/usage", "/settings/models/new", sessions[3], sessions[4]]
    check(site, kinds, LAPTOP, "light")


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [LAPTOP, TABLET, PHONE], ids=["1440", "1024", "390"])
def test_every_width_and_theme_is_accessible(
    site: Site, sessions: list[str], viewport: dict[str, int], theme: str
) -> None:
    check(site, [*SCREENS, *sessions], viewport, theme)


@pytest.mark.long
@pytest.mark.parametrize(
    ("viewport", "theme"), [(LAPTOP, "light"), (TABLET, "dark"), (PHONE, "light")]
)
def test_rare_screens_are_accessible_too(
    serving: Callable[..., Site], viewport: dict[str, int], theme: str
) -> None:
    """What is not there, and a daemon that only shows."""
    site = serving(read_only=True)
    site.expected = ("404", "401")  # what is not there, and the challenge of the log-in
    shown = f"/sessions/{site.session()}"
    lacking = ["/nowhere", "/sessions/0000000000", "/search?q=nothing", "/login"]
    paths = [*lacking, "/", "/inbox", "/new", "/settings", "/settings/limits", "/settings/devices"]
    check(site, [*paths, shown, f"{shown}/changes", f"{shown}/timeline"], viewport, theme)


LONG = "x" * 180
WIDER = """() => [document.documentElement, document.querySelector("#main")]
  .filter((each) => each && each.scrollWidth > each.clientWidth).map((each) => each.localName)"""


@pytest.mark.long
@pytest.mark.parametrize(
    "viewport",
    [{"width": 320, "height": 640}, {"width": 512, "height": 384}],
    ids=["320", "1024-at-200-percent"],
)
def test_nothing_overflows_the_window(site: Site, viewport: dict[str, int]) -> None:
    """With names and texts without a place to break, and with right-to-left ones."""
    told = f"Hello {LONG}\n\n```\n{LONG}{LONG}\n```\n\n| a | b |\n|-|-|\n| {LONG} | x |"
    session = read(site, site.page(), [{"text": told}, {"plan": [LONG], "done": 0}], LONG, "Hello")
    rtl = read(site, site.page(), [{"text": "ok"}], "مرحبا بالعالم \u202e <b>", "ok")
    page = site.page(viewport=viewport)
    found = {}
    shown = [f"/sessions/{session}{part}" for part in ("", "/changes", "/timeline")]
    screens = [each for each in SCREENS if "edit" not in each]
    for path in [*screens, *shown, f"/sessions/{rtl}"]:
        page.goto(site.served.address + path)
        page.wait_for_load_state("networkidle")
        if wider := page.evaluate(WIDER):
            found[path] = wider
    assert not found


OPENED: dict[str, Callable[[Page], object]] = {
    "keys": lambda page: page.keyboard.press("?"),
    "agent": lambda page: page.locator("#bar [data-option=agent]").first.click(),
    "mode": lambda page: page.locator("#bar [data-option=confirm]").first.click(),
    "more": lambda page: page.locator("#bar [data-do=more]:visible").first.click(),
    "rename": lambda page: page.locator("#bar [data-do=rename]").click(),
    "changes": lambda page: page.keyboard.press("d"),
    "timeline": lambda page: page.keyboard.press("t"),
    "find": lambda page: page.keyboard.press("f"),
    "commands": lambda page: page.locator("#composer textarea").fill("/"),
}
"""What opens over a session or beside it."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("viewport", "theme"),
    [(LAPTOP, "dark"), (TABLET, "light"), (TABLET, "dark"), (PHONE, "light")],
    ids=["1440-dark", "1024-light", "1024-dark", "390-light"],
)
def test_dialogs_over_a_session_are_accessible(
    site: Site, sessions: list[str], viewport: dict[str, int], theme: str
) -> None:
    page = site.page(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
    found: list[str] = []
    for name, act in OPENED.items():
        page.goto(site.served.address + sessions[0])
        page.wait_for_load_state("networkidle")
        folded = page.locator("#bar [data-do=options]")
        if folded.is_visible() and name in ("agent", "mode", "more"):
            folded.click()
        page.evaluate("document.activeElement.blur()")
        act(page)
        page.wait_for_load_state("networkidle")
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        found += [f"{name}: {each}" for each in complaints(page)]
    assert not found, "\n".join(found)


def test_every_screen_is_tested() -> None:
    """A new address of the page is looked at, too."""
    routes = [each for router in ROUTERS for each in router.routes if isinstance(each, Route)]
    paths = {each.path for each in routes if "GET" in (each.methods or ())}
    known = {each.partition("?")[0] for each in SCREENS} | {"/sessions/{session}"}
    known |= {"/sessions/{session}/changes", "/settings/{kind}/new", "/settings/{kind}/edit"}
    known |= {"/settings/{section}", "/settings/servers", "/settings/rules"}
    known |= {f"/sessions/{{session}}/{name}" for name in ("older", "newer", "timeline", "file")}
    known |= {"/new/options", "/sessions/{session}/changes/lines"}  # pieces of their screens
    forgotten = {path for path in paths - known if not path.startswith(NOT_SCREENS)}
    assert not forgotten, f"add them to SCREENS: {forgotten}"


def test_without_javascript_sessions_and_transcripts_are_read(
    site: Site, sessions: list[str]
) -> None:
    """The first response already holds what there is."""
    page = site.page("/", java_script_enabled=False)
    page.locator(f'#main a[href="{sessions[0]}"]').first.click()
    words = page.locator("#transcript").get_by_text("The switch follows the system")
    expect(words).to_be_visible()
    expect(page.locator("#transcript pre, #transcript table").first).to_be_visible()
    page.goto(f"{site.served.address}/settings/limits")
    expect(page.get_by_label("Cancel timeout")).to_be_visible()
    page.get_by_role("link", name="Usage").click()
    expect(page.get_by_role("heading", name="Usage", exact=True)).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    ["/", "/settings", "/settings/models/new", "/settings/rules", "/new", "/inbox", "session"],
)
def test_the_keyboard_alone_reaches_everything(site: Site, sessions: list[str], path: str) -> None:
    """Tab goes to each thing that can be used, once round, and each shows that it has the focus."""
    page = site.page(sessions[1] if path == "session" else path)
    page.wait_for_load_state("networkidle")
    wanted = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
        .filter((each) => each.checkVisibility({checkVisibilityCSS: true}) && !each.disabled
          && each.tabIndex >= 0 && (each.type !== "radio" || each.checked))
        .map((each, at) => (each.dataset.number = at, at))"""
    )
    reached: set[int] = set()
    for _ in range(len(wanted) * 2 + 20):
        page.keyboard.press("Tab")
        at, seen = page.evaluate(
            """() => { const here = document.activeElement, style = getComputedStyle(here);
            const box = here.closest("label, .choice, .find, .composer") ?? here;
            const ring = [here, box].some((each) => { const s = getComputedStyle(each);
              return s.outlineStyle !== "none" || s.boxShadow !== "none"; });
            return [Number(here.dataset.number ?? -1), ring || here === document.body]; }"""
        )
        assert seen, f"{page.evaluate('document.activeElement.outerHTML')[:200]} shows no focus"
        reached.add(at)
        if len(reached - {-1}) == len(wanted):
            break
    missing = set(wanted) - reached
    said = [page.locator(f'[data-number="{at}"]').evaluate("e => e.outerHTML") for at in missing]
    assert not missing, said
