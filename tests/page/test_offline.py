"""V11: what is typed without a connection is kept and sent once."""

from playwright.sync_api import expect

from tests.daemon.served import awaited
from tests.page.conftest import Site

SECRET = "use sk-ant-api03-" + "a1B2" * 20


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


def test_V11_prompts_typed_offline_are_sent_once_and_in_order(site: Site) -> None:
    site.expected = ("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to load resource")
    session = site.session({"otherwise": [{"text": "Heard: $prompt"}]})
    page = site.page(f"/sessions/{session}")
    field = page.get_by_label("Prompt", exact=True)
    expect(page.locator("#bar .now")).to_contain_text("ready")
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
    page.reload()
    expect(transcript).to_contain_text("Heard: second")
    field.fill("third")
    field.press("Enter")
    expect(transcript).to_contain_text("Heard: third")
    assert awaited(lambda: len(prompts(site, session)) >= 3)
    assert prompts(site, session) == ["first", "second", "third"]
