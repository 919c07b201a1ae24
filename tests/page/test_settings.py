"""Settings, models, servers, agents, rules, devices and usage in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rookery.client.login import servers as logins
from rookery.home import config, mcp
from rookery.models import profiles
from tests.daemon.served import awaited
from tests.page.conftest import PHONE, Site
from tests.rigs.oauth_server import OAuthServer


def _save(page: Page) -> None:
    page.locator("button[type=submit].primary").click()


def test_a_setting_is_changed_and_a_wrong_field_says_so(site: Site) -> None:
    page = site.page("/settings/limits")
    field = page.get_by_label("Cancel timeout")
    field.fill("10000")
    expect(page.get_by_text("1 unsaved change")).to_be_visible()
    field.press("Enter")
    expect(page.get_by_text("✗ Cancel timeout must be 0.1 to 600 seconds")).to_be_visible()
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("12")
    field.press("Enter")
    expect(page.get_by_text("Saved: Cancel timeout.")).to_be_visible()
    expect(page.get_by_label("Cancel timeout")).to_have_value("12")
    assert config.load(site.served.home).policy.cancel_grace == 12.0

    page.goto(f"{site.served.address}/settings/models/new")
    expect(page.get_by_text("such as claude")).to_be_visible()
    page.get_by_label("Provider").select_option("openai-compatible")
    expect(page.get_by_text("as the server names it")).to_be_visible()
    _save(page)
    expect(page.locator('[data-field="model"] .wrong')).to_have_text("✗ Required")
    expect(page.locator('[data-field="base_url"] .wrong')).to_have_text("✗ Required")
    page.get_by_label("Model", exact=False).first.fill("m")
    page.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    page.get_by_label("Name").fill("near")
    _save(page)
    page.get_by_role("button", name="Save untested").click()
    expect(page.get_by_text("Saved near")).to_be_visible()
    assert "near" in profiles.load(site.served.home).profiles


def test_a_form_that_is_sent_before_its_script_came_leaves_nothing_in_the_address(
    site: Site,
) -> None:
    session = site.session()
    page = site.page()
    page.route("**/main.js", lambda route: route.abort())
    site.expected = ("net::ERR_FAILED",)
    forms = {"/settings/models/new": "[name=name]", f"/sessions/{session}": "textarea"}
    for place, field in forms.items():
        address = f"{site.served.address}{place}"
        page.goto(address)
        box = page.locator(f"main form {field}").first
        box.fill("sk-secret")
        box.locator("xpath=ancestor::form").evaluate("form => form.requestSubmit()")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        expect(page).to_have_url(address)
        expect(box).to_have_value("sk-secret")


def test_a_setting_is_found_by_what_it_does(site: Site) -> None:
    page = site.page("/settings")
    page.get_by_label("Search settings").press_sequentially("cancelled killed")
    page.get_by_role("link", name="Cancel timeout").click()
    expect(page.get_by_role("heading", name="Times and limits")).to_be_visible()
    expect(page.get_by_label("Cancel timeout")).to_be_focused()


@pytest.mark.long
def test_loosening_changes_are_confirmed_or_left(site: Site) -> None:
    """0026: a person's browser may loosen, after it was told what."""
    page = site.page("/settings/worker")
    page.get_by_label("Approve all").check()
    _save(page)
    expect(
        page.get_by_text("Approvals changes from “Ask always” to “Approve all”.")
    ).to_be_visible()
    page.keyboard.press("Enter")  # the button that has the focus leaves things as they are
    expect(page.get_by_text("Not saved.")).to_be_visible()
    assert config.load(site.served.home).confirm == "every"
    _save(page)
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_text("Saved: Approvals.")).to_be_visible()
    assert config.load(site.served.home).confirm == "all"
    page.get_by_label("Ask always").check()
    _save(page)
    expect(page.get_by_text("Saved: Approvals.")).to_be_visible()


@pytest.mark.long
def test_servers_and_rules_are_managed_by_keyboard_on_a_phone(site: Site) -> None:
    page = site.page("/settings/servers/new", viewport=PHONE, has_touch=True)
    expect(page.get_by_label("Command")).to_be_visible()
    expect(page.get_by_label("Address")).to_be_hidden()
    page.get_by_label("Kind").select_option("http")
    expect(page.get_by_label("Address")).to_be_visible()
    expect(page.get_by_label("Command")).to_be_hidden()
    page.get_by_label("Name").fill("tracker")
    page.get_by_label("Address").fill("https://tracker.example/mcp")
    page.get_by_label("Address").press("Enter")
    page.get_by_role("button", name="Save it").press("Enter")
    expect(page.get_by_text("Saved tracker.")).to_be_visible()
    assert [each.name for each in mcp.load(site.served.home)] == ["tracker"]
    page.get_by_role("button", name="Remove: tracker").press("Enter")
    page.get_by_role("button", name="Remove", exact=True).press("Enter")
    expect(page.get_by_text("Removed tracker.")).to_be_visible()

    page.goto(f"{site.served.address}/settings/rules/new")
    page.get_by_label("Then").select_option("deny")
    expect(page.get_by_label("Reason")).to_be_visible()
    page.get_by_label("Path").fill("**/.env")
    page.get_by_label("Path").press("Enter")
    expect(page.get_by_text("deny **/.env", exact=True)).to_be_visible()


@pytest.mark.long
def test_an_mcp_server_is_logged_in_to_where_the_list_shows_it(site: Site) -> None:
    server = OAuthServer()
    try:
        values = {"name": "aviary", "kind": "http", "url": server.url}
        made = {"values": values, "confirm": True}
        assert site.served.ask("PATCH", "/api/setup/forms/servers", made).json()["done"] is True
        page = site.page("/settings/servers", viewport=PHONE, has_touch=True)
        page.get_by_role("link", name="Log in: aviary").press("Enter")
        expect(page.get_by_role("heading", name="Log in to aviary")).to_be_visible()
        page.wait_for_load_state()
        page.get_by_role("button", name="Log in").press("Enter")
        expect(page.get_by_text("Log in at this address")).to_be_visible(timeout=160_000)
        expect(page.locator("code.address")).to_contain_text(f"{server.base}/authorize?")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Open in the browser").press("Enter")
        expect(opened.value.locator("body")).to_contain_text("Authentication successful")
        site.expected = ("Failed to load resource",)  # the library's page has a logo elsewhere
        awaited(lambda: logins.is_logged_in(site.served.home, server.url))
        said = page.get_by_text("Logged in to aviary.")
        early = page.get_by_role("status").get_by_text("Not logged in yet.")

        def is_done() -> bool:
            """The process that waited may still be ending, on a busy machine."""
            page.get_by_role("button", name="Done").press("Enter")
            expect(said.or_(early).first).to_be_visible()
            return said.is_visible()

        awaited(is_done)
        expect(page.locator(".saved .chip", has_text="logged in")).to_be_visible()
    finally:
        server.close()


@pytest.mark.long
def test_rules_are_changed_and_reordered(site: Site) -> None:
    """By keyboard; what then allows more than before is confirmed."""
    for rule in (
        {"do": "deny", "path": "/etc/**"},
        {"do": "ask", "command": '"git log *" "git show *"'},
    ):
        body = {"values": {**rule, "name": f"i15-{rule['do']}"}, "confirm": True}
        site.served.ask("PATCH", "/api/setup/forms/rules", body)
    page = site.page("/settings/rules")
    page.get_by_role("link", name="ask git log").press("Enter")
    field = page.get_by_label("Command", exact=True)
    expect(field).to_have_value('"git log *" "git show *"')
    field.fill("git log *")
    field.press("Enter")
    page.get_by_role("button", name="Save it").press("Enter")
    expect(page.get_by_text("The rule applies.")).to_be_visible()
    page.get_by_role("button", name="Earlier: ask git log *").press("Enter")
    page.get_by_role("button", name="Save it").press("Enter")
    expect(page.get_by_text("The rule is tried earlier.")).to_be_visible()
    names = [rule.name for rule in config.load(site.served.home).rules]
    assert names.index("i15-ask") == names.index("i15-deny") - 1


@pytest.mark.long
def test_leaving_with_unsaved_changes_asks_first(site: Site) -> None:
    page = site.page("/settings/limits")
    page.get_by_label("Cancel timeout").fill("14")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Critic").click()
    expect(page.get_by_label("Cancel timeout")).to_have_value("14")
    page.wait_for_function("() => true")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("link", name="Critic").click()
    expect(page.get_by_role("heading", name="Critic")).to_be_visible()


@pytest.mark.long
def test_devices_and_the_theme_are_set(site: Site) -> None:
    page = site.page("/settings/devices")
    expect(page.get_by_text("this device")).to_be_visible()
    known = page.get_by_role("button", name="Revoke").count()
    page.get_by_role("button", name="Log in another device").click()
    expect(page.get_by_text("This address works on this machine only.")).to_be_visible()
    address = page.locator("code.address").inner_text()
    other = site.page(logged_in=False)
    other.goto(address)
    other.get_by_role("button", name="Log in on this device").click()
    expect(other.get_by_role("link", name="Rookery", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Revoke")).to_have_count(known + 1)
    other.goto(f"{site.served.address}/settings")
    other.get_by_label("Dark").check()
    expect(other.locator("html")).to_have_css("color-scheme", "dark")
    expect(other.locator("body")).to_have_css("background-color", "rgb(20, 23, 26)")
    other.reload()
    expect(other.locator("html")).to_have_css("color-scheme", "dark")
    expect(other.get_by_label("Dark")).to_be_checked()


@pytest.mark.long
def test_usage_is_shown_by_day_agent_and_session(site: Site) -> None:
    spent = {"usage": 1000, "size": 10_000, "cost": 0.25}
    name = site.session({"turns": [[{"text": "Hello"}, spent]]}, title="Spending <b>much</b>")
    site.say(name, "Go")
    page = site.page()
    page.goto(f"{site.served.address}/usage")
    for _ in range(100):  # the turn ends when it ends
        if page.locator("#main").get_by_role("link", name="Spending <b>much</b>").is_visible():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(page.locator(".totals")).to_contain_text("$0.25")
    expect(page.locator(".chart rect").last).to_be_attached()
    page.get_by_role("link", name="7 days").click()
    expect(page.get_by_role("link", name="7 days")).to_have_attribute("aria-current", "true")
    page.get_by_text("As a table").click()
    expect(page.locator(".chart tr")).to_have_count(7)


@pytest.mark.long
def test_settings_that_an_agent_loosened_are_confirmed_in_its_session(site: Site) -> None:
    file = Path(site.served.home, "config.toml")
    before = file.read_text() if file.exists() else ""
    rule = '\n[[policy.rules]]\nname = "sly"\ndo = "allow"\ncommand = "make*"\n'
    write = {"command": ["sh", "-c", f"printf %s '{rule}' >> {file}"]}
    session = site.session({"otherwise": [write, {"ask": "make all"}]})
    site.say(session, "go")
    page = site.page(f"/sessions/{session}")
    notice = page.locator("#transcript .note", has_text="Settings were loosened")
    notice.get_by_role("button", name="Confirm").click()
    question = page.get_by_role("dialog", name="Confirm?")
    expect(question).to_contain_text("A new rule allows: make")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    notice.get_by_role("button", name="Confirm").click()
    question.get_by_role("button", name="Confirm").click()
    expect(notice).to_contain_text("running: confirmed")
    file.write_text(before)
