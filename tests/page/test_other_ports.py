"""A server on another port of the daemon's host is sent nothing that opens Rookery, and logs nobody
out; a script in the page takes nothing with it."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rookery.daemon import assets
from tests.daemon.handshake import upgrade
from tests.daemon.served import awaited, serve
from tests.daemon.test_tabs import earlier
from tests.page.conftest import Site
from tests.page.stranger import CLEAR, COOKIES, FILL, Stranger, stranger

PICTURE = base64.b64encode(assets.files()["apple-touch-icon.png"]).decode()
SESSION = {
    "agent": {"name": "bird", "capabilities": {"promptCapabilities": {"image": True}}},
    "otherwise": [{"text": "Heard: $prompt"}],
}


@pytest.fixture
def other() -> Iterator[Stranger]:
    with stranger() as made:
        yield made


def replays(site: Site, headers: dict[str, str], session: str) -> list[int]:
    """What comes of a stranger's request, sent to the daemon in every way that it could be meant:
    with its headers as they are, and each value in them as a token."""
    own = {"host", "connection", "upgrade", "content-length", "origin", "accept"}
    sent = {name: value for name, value in headers.items() if name.lower() not in own}
    cookies = sent.get("Cookie", "").split("; ")
    values = {*sent.values(), *(each.partition("=")[2] for each in cookies)}
    ways = [sent, *({"Authorization": f"Bearer {value}"} for value in values if value)]
    path = f"/api/sessions/{session}"
    found = []
    for way in ways:
        for method, place in (
            ("GET", "/api/sessions"),
            ("GET", f"{path}/export?format=md"),
            ("GET", f"/api/events?topic={session}"),
            ("POST", f"{path}/prompt"),
            ("DELETE", path),
        ):
            body = {"text": "from a stranger"} if method == "POST" else None
            found.append(site.served.ask(method, place, body, token="", **way).status)
        found.append(upgrade(site.served.netloc, "/api/stream", **way).status)
    return found


def works(page: Page, words: str) -> None:
    """Fetch, stream, picture and download of a session's page."""
    field = page.get_by_label("Prompt", exact=True)
    field.fill(words)
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text(f"Heard: {words}")
    awaited(lambda: page.evaluate("document.querySelector('#transcript img')?.naturalWidth") == 180)
    page.locator("#bar [data-do=more]:visible").first.click()
    with page.expect_download() as given:
        page.get_by_role("link", name="Markdown").click()
    assert given.value.suggested_filename.endswith(".md")
    assert f"Heard: {words}" in Path(given.value.path()).read_text()
    page.keyboard.press("Escape")


def shown(site: Site) -> tuple[str, Page]:
    """A session with a picture, and its page."""
    session = site.session(SESSION)
    picture = {"name": "bird.png", "data": PICTURE}
    command = {"do": "prompt", "attachments": [picture]}
    sent = site.served.ask("POST", f"/api/sessions/{session}/commands", command)
    assert sent.status == 200, sent.body
    return session, site.page(f"/sessions/{session}")


def test_what_another_port_is_sent_opens_nothing(site: Site, other: Stranger) -> None:
    """A link in an agent's answer is clicked, and the page behind it asks for all it can get."""
    session = site.session({"otherwise": [{"text": f"See [the page]({other.address}/)."}]})
    site.say(session, "Go on.")
    page = site.page(f"/sessions/{session}")
    link = page.get_by_role("link", name="the page", exact=True)
    with page.context.expect_page() if link.get_attribute("target") else page.expect_navigation():
        link.click()
    there = page.context.pages[-1]
    expect(there).to_have_title("A stranger")
    with there.expect_download():
        there.locator("#file").click()
    wanted = {"/", "/picture", "/script", "/fetched", "/websocket", "/events", "/beacon", "/file"}
    awaited(lambda: wanted <= other.paths() or there.wait_for_timeout(20))
    site.expected = ("WebSocket", "EventSource", "Failed to load")
    before = site.served.own("GET", f"/api/sessions/{session}/events").json()
    for taken in [*other.taken]:
        assert not {"cookie", "authorization"} & {*map(str.lower, taken.headers)}
        assert site.served.netloc not in str(taken.headers)
        assert {*replays(site, taken.headers, session)} == {401}, taken
    assert site.served.own("GET", f"/api/sessions/{session}/events").json() == before


def test_no_header_of_another_port_logs_a_browser_out(site: Site, other: Stranger) -> None:
    """Cookies in the place of ours, a jar that is full, and `Clear-Site-Data`."""
    site.expected = ("WebSocket", "EventSource", "Failed to load")
    _, page = shown(site)
    works(page, "before")

    def visit(*sets: tuple[str, str]) -> Page:
        other.sets = [*sets]
        there = page.context.new_page()
        there.goto(other.address)
        return there

    def jar() -> int:
        return len(page.context.cookies(site.served.address))

    there = visit(*(("Set-Cookie", each) for each in COOKIES))
    there.evaluate(FILL)
    awaited(lambda: jar() > 100 or there.wait_for_timeout(20))
    works(page, "still open")
    page.reload()
    works(page, "after a reload")
    page.context.clear_cookies()  # the stranger itself takes no headers of that size
    page.context.add_cookies([{"name": "a", "value": "b", "url": site.served.address}])
    there = visit(("Clear-Site-Data", CLEAR))
    awaited(lambda: jar() == 0 or there.wait_for_timeout(20))
    again = page.context.new_page()
    again.goto(page.url)
    works(again, "in a second tab")
    page.close()
    works(again, "which outlives the first")


STEAL = """async () => {
  window.stolen = new Set();
  const ask = window.fetch, Socket = window.WebSocket;
  const note = (value) => { for (const word of String(value).split(" ")) stolen.add(word); };
  window.fetch = (path, init) => { note(init?.headers?.Authorization); return ask(path, init); };
  window.WebSocket = function (address, names) {
    names.forEach(note);
    return new Socket(address, names);
  };
  for (const name of ["pagehide", "beforeunload", "unload"])
    addEventListener(name, (event) => event.stopImmediatePropagation(), true);
  for (const kept of [localStorage, sessionStorage]) Object.values(kept).forEach(note);
  const db = await new Promise((done) => {
    const opening = indexedDB.open("rookery");
    opening.onsuccess = () => done(opening.result);
  });
  const device = await new Promise((done) => {
    const asked = db.transaction("device").objectStore("device").get("own");
    asked.onsuccess = () => done(asked.result);
  });
  for (const format of ["raw", "pkcs8", "jwk"]) {
    try { note(JSON.stringify(await crypto.subtle.exportKey(format, device.key))); } catch {}
  }
  note(device.id);
  return [document.cookie, device.key.extractable];
}"""


def test_a_script_in_the_page_takes_nothing_with_it(site: Site) -> None:
    """It can do what the page can while that is open. It keeps no credential that outlives it."""
    session = site.session(SESSION)
    page = site.page(f"/sessions/{session}")
    assert page.evaluate(STEAL) == ["", False]
    field = page.get_by_label("Prompt", exact=True)
    field.fill("one")
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Heard: one")
    stolen = [str(each) for each in page.evaluate("[...stolen]") if each and each.isascii()]

    def opens() -> list[str]:
        """The words by which anything can be read."""
        return [
            each
            for each in stolen
            if site.served.ask("GET", "/api/sessions", token=each).status != 401
        ]

    assert opens(), "while the page is open"
    page.close()
    awaited(lambda: not opens())
    for each in stolen:
        assert {*replays(site, {"Authorization": each, "Cookie": each}, session)} == {401}


def test_a_browser_of_an_earlier_build_is_told_once_how_to_get_in(
    serving: Callable[..., Site],
) -> None:
    site = serving()
    token = "rk_" + "earlier" * 6
    site.served.stop()
    earlier(Path(site.served.home), ("Mozilla/5.0", token))
    site.served = serve(Path(site.served.home))
    page = site.page(logged_in=False)
    cookie = {"name": "rookery", "value": token, "url": site.served.address}
    page.context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Strict"}])  # type: ignore[list-item]
    page.goto(f"{site.served.address}/inbox")
    page.wait_for_url("**/login?next=%2Finbox")
    expect(page.get_by_text("Rookery was updated")).to_be_visible()
    expect(page.get_by_text("rookery serve --link")).to_be_visible()
    assert not page.context.cookies(site.served.address)
    page.reload()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_text("Rookery was updated")).to_have_count(0)
    site.log_in(page)
    page.goto(f"{site.served.address}/inbox")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


def test_without_javascript_a_page_says_that_it_is_needed(site: Site) -> None:
    page = site.page("/inbox", logged_in=False, java_script_enabled=False)
    said = page.locator("noscript p").last
    expect(said).to_be_visible()
    expect(said).to_contain_text("Rookery's page needs JavaScript")
    page.goto(site.served.own("POST", "/api/devices/link", {}).json()["link"])
    expect(said).to_be_visible()
