"""The page as an app: its icons, its service worker, notifications and what they answer."""

import json
import socket
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.daemon.served import Served, awaited, serve
from tests.page.conftest import Site
from tests.page.test_asks import RUN, opened


def test_the_page_can_be_installed(served: Served) -> None:
    """A manifest, icons also for phones that take no SVG, a service worker for all of it."""
    manifest = json.loads(served.ask("GET", "/manifest.webmanifest", token="").body)
    assert manifest["display"] == "standalone"
    assert {each["url"] for each in manifest["shortcuts"]} == {"/new", "/inbox"}
    for icon in manifest["icons"]:
        assert served.ask("GET", icon["src"], token="").status == 200
    png = served.ask("GET", "/apple-touch-icon.png", token="")
    assert png.headers["content-type"] == "image/png"
    data = png.body[png.body.index(b"IDAT") + 4 : png.body.index(b"IEND") - 8]
    assert len(zlib.decompress(data)) == 180 * (1 + 3 * 180)
    worker = served.ask("GET", "/sw.js", token="")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert b"not reachable" in served.ask("GET", "/offline").body


@pytest.mark.long
def test_a_name_without_https_says_what_is_lacking(site: Site) -> None:
    """On plain http at another address there are no notifications, and the page says so."""
    page = site.page()
    page.add_init_script("Object.defineProperty(window, 'isSecureContext', {value: false})")
    page.goto(site.served.address + "/inbox")
    expect(page.locator("[data-notify]")).to_contain_text("Notifications need https")
    expect(page.get_by_role("button", name="Notify me here")).to_have_count(0)


def own_address() -> str:
    """Of this machine in its network; "": it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # which sends nothing
        except OSError:
            return ""
        return str(probe.getsockname()[0])


@pytest.mark.long
def test_plain_http_at_an_address_of_the_network(serving: Callable[..., Site]) -> None:
    """A browser that withholds what it keeps for https; the page works without it."""
    address = own_address()
    if not address or address.startswith("127."):
        pytest.skip("this machine has no address in a network")
    site = serving(host=address)
    site.expected = ("Cross-Origin-Opener-Policy",)  # the browser says that it heeds it on https
    page = site.page(f"/sessions/{site.session({'otherwise': [{'text': 'Heard: $prompt'}]})}")
    assert page.evaluate(
        "[isSecureContext, 'clipboard' in navigator, 'serviceWorker' in navigator]"
    ) == [
        False,
        False,
        False,
    ]
    field = page.get_by_label("Prompt", exact=True)
    field.fill("go")
    field.press("Enter")
    expect(page.locator("#transcript .answer")).to_contain_text("Heard: go")
    page.locator("#scroll").press("Shift+C")
    expect(page.locator("#polite")).to_contain_text("Copied")
    field.press("Control+V")
    expect(field).to_have_value("Heard: go")
    page.goto(f"{site.served.address}/settings")
    expect(page.locator("#notify-here")).to_contain_text("Notifications need https")


def until(page: Page, script: str) -> None:
    """The page's policy lets no script of ours wait in it."""
    awaited(lambda: page.evaluate(script), within=60)


def controlled(page: Page) -> None:
    """Its service worker is there."""
    until(page, "() => navigator.serviceWorker.controller !== null")


@pytest.mark.long
def test_a_pushed_ask_is_answered_from_its_notification(site: Site) -> None:
    """Shown with the plain ways to answer, which need no page."""
    site.expected = (
        "Push API",
    )  # which a browser for tests has not: the page says what is lacking
    session = site.session(RUN, title="Fix the login")
    site.say(session, "go")
    opened(site, session).close()
    page = site.page("/inbox", permissions=["notifications"])
    controlled(page)
    page.get_by_role("button", name="Notify me here").click()
    expect(page.get_by_text("Notifications are on in this browser.")).to_be_visible()
    known: list[dict[str, str]] = []
    devtools = page.context.new_cdp_session(page)
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated", lambda said: known.extend(said["registrations"])
    )
    devtools.send("ServiceWorker.enable")
    awaited(lambda: known or page.wait_for_timeout(20))
    news = {"event": "ask", "heading": "Fix the login needs you", "text": "", "session": session}
    message = {"origin": site.served.address, "registrationId": known[0]["registrationId"]}
    devtools.send("ServiceWorker.deliverPushMessage", {**message, "data": json.dumps(news)})
    until(
        page,
        "() => navigator.serviceWorker.ready.then((it) => it.getNotifications())"
        ".then((all) => all.length === 1 && all[0].actions.length === 2)",
    )
    (worker,) = page.context.service_workers
    worker.evaluate(
        "async () => { const [shown] = await registration.getNotifications();"
        " await answer({ action: shown.data.ways[0].way, notification: shown }); }"
    )
    expect(page.get_by_text("Nothing needs you.")).to_be_visible()


@pytest.mark.long
def test_a_page_whose_daemon_is_gone_waits_for_it(serving: Callable[..., Site]) -> None:
    """It says that Rookery is not reachable, and comes back by itself."""
    site = serving()
    site.expected = ("ERR_", "WebSocket", "Failed to load")
    page = site.page("/inbox")
    controlled(page)
    until(page, "() => caches.match('/offline').then(Boolean)")
    site.served.kill()
    page.reload()
    expect(page.get_by_role("heading", name="Rookery is not reachable")).to_be_visible()
    port = int(site.served.netloc.rpartition(":")[2])
    site.served = serve(Path(site.served.home), port=port)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
