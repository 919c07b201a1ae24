"""Web Push from end to end: a real browser subscribes, an ask reaches it through a push service on
loopback, its notification leads to the ask, and it leaves; one that is gone is forgotten."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from rookery.client.config.edit import change
from rookery.daemon.notify.subscriptions import Subscriptions
from tests.daemon.served import PATIENCE, awaited
from tests.daemon.test_notify_push import Service, service
from tests.page.conftest import FLAGS, NAMES, Site
from tests.page.pushes import TOKEN, PushService, push_service
from tests.page.test_asks import RUN, has_focus
from tests.page.test_notify import controlled, until

__all__ = ["service"]
NOTIFIED = """() => navigator.serviceWorker.ready.then((it) => it.getNotifications())
  .then((all) => all.map((each) => [each.title, each.data.session, each.actions.length]))"""


@contextmanager
def subscribing(site: Site, pushes: PushService, directory: Path) -> Iterator[BrowserContext]:
    """A browser of its own that takes `pushes` for its push service."""
    context = site.browser.browser_type.launch_persistent_context(
        str(directory / "profile"),
        executable_path=next(filter(None, map(shutil.which, NAMES))),
        ignore_default_args=["--disable-background-networking"],
        args=[*(each for each in FLAGS if "networking" not in each), *pushes.flags],
        permissions=["notifications"],
    )
    try:
        yield context
    finally:
        context.close()


def turned_on(site: Site, context: BrowserContext) -> Page:
    page = context.new_page()
    site.log_in(page)
    page.goto(f"{site.served.address}/settings")
    controlled(page)
    page.get_by_role("button", name="Notify me here").click()
    expect(page.locator("#notify-here")).to_contain_text("Even while this page is closed.")
    return page


def at(kept: Subscriptions, address: str) -> str:
    """Chromium takes its endpoint's address from nobody: what the daemon keeps of it leads to
    another one from now on. Returns the earlier one."""
    (found,) = kept.all()
    kept.remove(found.endpoint)
    kept.add(found._replace(endpoint=address))
    return found.endpoint


@pytest.mark.long
def test_an_ask_is_pushed_to_a_browser_which_opens_it_and_leaves(
    serving: Callable[..., Site], service: Service, tmp_path: Path
) -> None:
    site = serving()
    change(site.served.home, {"notify.push_private": True})
    kept = Subscriptions(site.served.home)
    with (
        push_service(service.certificate) as pushes,
        subscribing(site, pushes, tmp_path) as context,
    ):
        page = turned_on(site, context)
        own = at(kept, f"{service.url}/{TOKEN}")
        assert own.endswith(TOKEN)
        session = site.session(RUN, title="Fix the login")
        site.say(session, "go")
        path, headers, body = service.heard.get(timeout=PATIENCE)
        assert (path, headers["Content-Encoding"]) == (f"/{TOKEN}", "aes128gcm")
        pushes.deliver(body)
        until(page, f"async () => (await ({NOTIFIED})()).length === 1")
        assert page.evaluate(NOTIFIED) == [["Fix the login needs you", session, 2]]
        (worker,) = context.service_workers
        worker.evaluate(
            "async () => { const [shown] = await registration.getNotifications();"
            " await show(shown.data.session); }"
        )
        page.wait_for_url(f"**/sessions/{session}")
        has_focus(page)

        at(kept, own)
        page.goto(f"{site.served.address}/settings")
        page.get_by_role("button", name="Turn off").click()
        expect(page.get_by_role("button", name="Notify me here")).to_be_visible()
        assert not kept.all()


@pytest.mark.long
def test_a_subscription_that_expired_is_forgotten_and_made_anew(
    serving: Callable[..., Site], service: Service, tmp_path: Path
) -> None:
    site = serving()
    change(site.served.home, {"notify.push_private": True})
    kept = Subscriptions(site.served.home)
    with (
        push_service(service.certificate) as pushes,
        subscribing(site, pushes, tmp_path) as context,
    ):
        page = turned_on(site, context)
        at(kept, f"{service.url}/{TOKEN}")
        service.status = 410
        site.say(site.session(RUN), "go")
        service.heard.get(timeout=PATIENCE)
        awaited(lambda: not kept.all())
        page.get_by_role("button", name="Turn off").click()
        page.get_by_role("button", name="Notify me here").click()
        expect(page.locator("#notify-here")).to_contain_text("Even while this page is closed.")
        assert len(kept.all()) == 1
