"""What is typed without a connection is kept and sent once."""

import pytest
from playwright.sync_api import Route, expect

from tests.daemon.served import awaited
from tests.page.conftest import Site


def prompts(site: Site, session: str) -> list[str]:
    events = site.served.ask("GET", f"/api/sessions/{session}/events?after=0&limit=1000").json()
    found = [each["update"] for each in events["events"]]
    return [
        block["text"]
        for update in found
        if update["sessionUpdate"] == "_prompt"
        for block in update["prompt"]
        if block["type"] == "text" and block["text"].strip()
    ]


def test_prompts_typed_offline_are_sent_once_and_in_order(site: Site) -> None:
    site.expected = ("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to load resource")
    session = site.session({"otherwise": [{"text": "Heard: $prompt"}]})
    page = site.page(f"/sessions/{session}")
    field = page.get_by_label("Prompt", exact=True)
    expect(page.locator("#bar .now")).to_contain_text("not begun")
    page.context.set_offline(True)
    for words in ("first", "second"):
        field.fill(words)
        field.press("Enter")
    expect(page.locator("#outbox li")).to_have_count(2)
    expect(page.locator("#outbox")).to_contain_text("waiting for the connection")
    expect(field).to_have_value("")
    assert prompts(site, session) == []
    page.context.set_offline(False)
    transcript = page.locator("#transcript")
    expect(transcript).to_contain_text("Heard: second")
    expect(page.locator("#outbox li")).to_have_count(0)
    expect(page.locator("#connection")).to_be_hidden()
    page.reload()
    expect(transcript).to_contain_text("Heard: second")
    field.fill("third")
    field.press("Enter")
    expect(transcript).to_contain_text("Heard: third")
    assert awaited(lambda: len(prompts(site, session)) >= 3)
    assert prompts(site, session) == ["first", "second", "third"]


def test_scripts_that_a_lost_connection_kept_away_come_with_the_next(site: Site) -> None:
    site.expected = ("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to load resource", "net::")
    session = site.session({"otherwise": [{"text": "Wrote notes.md there."}]})
    (site.directory / "agent-1" / "work" / "notes.md").write_text("x")
    page = site.page()
    page.route("**/paths.js", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/paths.js")):
        page.goto(f"{site.served.address}/sessions/{session}")
    field = page.get_by_label("Prompt", exact=True)
    field.fill("Write.")
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Wrote notes.md there.")
    page.context.set_offline(True)
    page.unroute("**/paths.js")
    expect(page.locator("#connection")).to_be_visible()
    page.get_by_role("button", name="More actions").click()
    expect(page.locator(".toast.failed")).to_contain_text("Rookery cannot be reached.")
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Snooze for an hour")).to_be_visible()
    expect(page.locator(".answer a.file-link")).to_have_text("notes.md")


def test_an_ask_whose_script_did_not_come_is_answered_after_the_next_connection(site: Site) -> None:
    site.expected = ("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to load resource", "net::")
    session = site.session({"otherwise": [{"ask": "Go on", "allowed": [{"text": "went on"}]}]})
    site.say(session, "Begin.")
    page = site.page()
    page.route("**/answers.js", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/answers.js")):
        page.goto(f"{site.served.address}/sessions/{session}")
    page.context.set_offline(True)
    expect(page.locator("#connection")).to_be_visible()
    page.unroute("**/answers.js")
    with page.expect_event("requestfinished", lambda request: request.url.endswith("/answers.js")):
        page.context.set_offline(False)
    place = page.locator("script[src*='/assets/']").first.get_attribute("src") or ""
    page.evaluate("place => import(place)", place.rpartition("/")[0] + "/answers.js")  # it has run
    page.locator(".answers").get_by_role("button", name="Allow").first.click()
    expect(page.locator("#transcript")).to_contain_text("went on")


@pytest.mark.long
def test_a_lost_response_and_a_reload_send_nothing_twice(site: Site) -> None:
    site.expected = ("Failed to load resource", "ERR_FAILED", "net::")
    session = site.session({"otherwise": [{"text": "Heard: $prompt"}]})
    page = site.page(f"/sessions/{session}")
    lost: list[str] = []

    def lose(route: Route) -> None:
        """It arrives, but its answer does not come back."""
        lost.append(route.request.post_data or "")
        route.fetch()
        route.abort()

    page.route("**/commands", lose)
    field = page.get_by_label("Prompt", exact=True)
    field.fill("only once")
    field.press("Enter")
    expect(page.locator("#transcript")).to_contain_text("Heard: only once")
    expect(page.locator("#outbox li")).to_have_count(1)
    page.unroute("**/commands")
    page.reload()
    expect(page.locator("#transcript")).to_contain_text("Heard: only once")
    expect(page.locator("#outbox li")).to_have_count(0)
    assert lost
    assert prompts(site, session) == ["only once"]


@pytest.mark.long
def test_a_refused_prompt_comes_back_with_the_reason(site: Site) -> None:
    site.expected = ("409", "422")
    session = site.session({"otherwise": [{"text": "Heard: $prompt"}]})
    page = site.page(f"/sessions/{session}")
    field = page.get_by_label("Prompt", exact=True)
    long = "x" * 1_000_001
    field.evaluate("(node, text) => { node.value = text; }", long)
    field.press("Enter")
    expect(page.locator(".toast.failed")).to_be_visible()
    assert len(field.input_value()) == len(long)
    assert prompts(site, session) == []


def test_a_user_logged_out_meanwhile_is_led_to_the_login(site: Site) -> None:
    """As by a laptop that slept while its token was revoked: its stream is refused when it wakes,
    which a browser does not tell from a daemon that is gone."""
    site.expected = ("WebSocket", "401")
    session = site.session()
    page = site.page(f"/sessions/{session}")
    page.get_by_label("Prompt", exact=True).fill("half a prompt")
    for each in site.served.own("GET", "/api/devices").json():
        site.served.own("DELETE", f"/api/devices/{each['id']}")
    page.wait_for_url(f"**/login?next=%2Fsessions%2F{session}")
    site.log_in(page)
    page.goto(f"{site.served.address}/sessions/{session}")
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("half a prompt")
