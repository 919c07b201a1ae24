"""Asks in the browser: answered by one key or one tap, by the first who answers."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import PHONE, Site

RUN = {
    "otherwise": [
        {
            "ask": "Run the tests",
            "kind": "execute",
            "rawInput": {"command": "pytest -x tests/test_login.py --count 50"},
            "allowed": [{"text": "allowed: $option"}],
            "rejected": [{"text": "rejected: $reason"}],
        }
    ]
}
REMOVE = {
    "otherwise": [
        {
            "ask": "Remove the nest",
            "kind": "execute",
            "rawInput": {"command": "rm -rf ~/nest"},
            "allowed": [{"text": "removed: $option"}],
            "rejected": [{"text": "kept"}],
        }
    ]
}
FORM = {
    "otherwise": [
        {
            "question": "Where shall it go?",
            "schema": {
                "type": "object",
                "required": ["bird", "eggs"],
                "properties": {
                    "bird": {"type": "string", "title": "Bird", "enum": ["rook", "crow"]},
                    "eggs": {"type": "integer", "title": "Eggs", "minimum": 1, "maximum": 5},
                    "place": {"type": "string", "title": "Place", "description": "A tree"},
                    "colours": {"type": "array", "items": {"enum": ["black", "blue"]}},
                    "warm": {"type": "boolean", "title": "Keep it warm", "default": True},
                },
            },
            "accepted": [{"text": "accepted: $answer"}],
            "declined": [{"text": "declined"}],
        }
    ]
}


LINK = {
    "otherwise": [
        {
            "question": "Log in to the nest",
            "url": "https://auth.example.com/authorize?client_id=1&state=<b>x</b>",
            "accepted": [{"text": "thanks"}],
            "declined": [{"text": "without it"}],
        }
    ]
}
FIRST = 1_000
"""Milliseconds after which a card takes keys, and a little."""


def opened(site: Site, session: str) -> Page:
    """With its ask, which has the focus."""
    page = site.page(f"/sessions/{session}")
    has_focus(page)
    return page


def has_focus(page: Page) -> None:
    """The composer is empty and nobody types: the ask takes the focus, and soon keys."""
    expect(page.locator(".asked")).to_be_focused()
    page.wait_for_timeout(FIRST)


def test_the_first_answer_counts_and_the_other_card_goes(site: Site) -> None:
    """An approval from a second window; the first window says how it ended, and a late press is
    told so."""
    session = site.session(RUN, title="Fix the login")
    site.say(session, "go")
    first, second = opened(site, session), opened(site, session)
    expect(first.locator(".asked pre")).to_have_text("pytest -x tests/test_login.py --count 50")
    expect(first.locator(".answers button").first).to_contain_text("y")
    second.keyboard.press("y")
    expect(second.locator("#transcript").get_by_text("allowed: allow")).to_be_visible()
    expect(first.locator("#transcript").get_by_text("allowed: allow")).to_be_visible()
    expect(first.locator(".answers")).to_have_count(0)
    expect(first.locator(".answered")).to_contain_text("You allowed it")


@pytest.mark.long
@pytest.mark.parametrize(
    ("device", "words"),
    [("Phone | Anna", " (Anna, Phone)."), ("unnamed", " on another device.")],
)
def test_a_late_answer_is_told_where_it_was_given(site: Site, device: str, words: str) -> None:
    session = site.session(RUN, title="Too late")
    site.say(session, "go")
    page = opened(site, session)
    done = {"sessionUpdate": "_done", "command": "answer", "detail": "answered already"}
    said = {"seq": 9, "kind": "_done", "update": {**done, "by": f"web:3fa94c01 {device}"}}
    page.route("**/commands", lambda route: route.fulfill(json=said))
    page.get_by_role("button", name="Allow", exact=False).first.click()
    expect(page.locator(".toast")).to_contain_text(f"This was already answered{words}")


def test_what_cannot_be_undone_is_typed(site: Site) -> None:
    """One key is not enough; the word and Enter are."""
    session = site.session(REMOVE, title="Clean up")
    site.say(session, "go")
    page = opened(site, session)
    expect(page.locator(".asked.danger")).to_contain_text("This cannot be undone")
    page.keyboard.press("y")
    field = page.get_by_label("Type allow to confirm")
    expect(field).to_be_focused()
    field.press_sequentially("yes")
    expect(page.get_by_role("button", name="Allow it")).to_be_disabled()
    field.fill("allow")
    field.press("Enter")
    expect(page.locator("#transcript").get_by_text("removed: allow")).to_be_visible()


@pytest.mark.long
def test_a_question_is_a_form(site: Site) -> None:
    """Its fields are checked here and by the daemon."""
    session = site.session(FORM, title="Ask me")
    site.say(session, "go")
    page = opened(site, session)
    page.get_by_label("Bird").select_option("crow")
    page.get_by_label("Eggs").fill("9")
    page.get_by_role("button", name="Send the answer").click()
    expect(page.locator(".answers")).to_be_visible()  # the browser says what is wrong
    page.get_by_label("Eggs").fill("3")
    page.get_by_label("blue").check()
    page.get_by_role("button", name="Send the answer").click()
    said = page.locator("#transcript").get_by_text("accepted:")
    expect(said).to_contain_text("crow")
    expect(said).to_contain_text("3")
    expect(page.locator(".answers")).to_have_count(0)


def test_a_reached_budget_is_a_card_like_any_other(site: Site) -> None:
    """Seen in the bar and in the list; one click raises it, and the session goes on."""
    steps = [{"usage": 900}, {"text": "spent"}, {"until": "cancel"}]
    session = site.session(title="Spend", budget={"turn": "500 tokens"})
    site.say(session, json.dumps({"play": steps}))
    page = opened(site, session)
    expect(page.locator(".asked")).to_contain_text("This turn has used 900 of 500 tokens.")
    expect(page.locator(".bar .now")).to_contain_text("budget reached")
    expect(page.locator(f"#s-{session} .doing")).to_contain_text("budget reached: This turn")
    page.get_by_role("button", name="Raise it to 1k tokens").click()
    expect(page.locator(".answers")).to_have_count(0)
    expect(page.locator("#transcript").get_by_text("Go on where").first).to_be_visible()


# --- variants ------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_rejection_says_why(site: Site) -> None:
    session = site.session(RUN)
    site.say(session, "go")
    page = opened(site, session)
    page.keyboard.press("r")
    page.get_by_label("Why not?").press_sequentially("Once is enough.")
    page.keyboard.press("Enter")
    expect(page.locator(".remark")).to_have_text("“Once is enough.”")
    expect(page.locator("#transcript").get_by_text("rejected: ")).to_be_visible()


@pytest.mark.long
def test_asks_that_are_alike_are_answered_together_and_a_yes_takes_a_word_along(site: Site) -> None:
    lines = ("git push origin main", "git push origin dev", "npm run build > out.log")
    steps = [
        {"ask": line, "kind": "execute", "rawInput": {"command": line}, "allowed": [{"text": "ok"}]}
        for line in lines
    ]
    session = site.session({"otherwise": [{"together": steps}]})
    site.say(session, "go")
    page = site.page(f"/sessions/{session}")
    expect(page.locator(".asked")).to_have_count(3)
    expect(page.locator(".asked strong").last).to_have_text(
        "3 of 3: Rookery's player wants to run:"
    )
    page.locator(".explain summary").last.click()
    expect(page.locator(".explain li").last).to_contain_text("npm run")
    page.get_by_role("button", name="Allow all 2 alike").first.click()
    expect(page.locator(".step li")).to_have_text(list(lines[:2]))
    page.get_by_role("button", name="Allow these 2 once").click()
    expect(page.locator(".asked")).to_have_count(1)
    page.get_by_role("button", name="Yes, and").click()
    page.get_by_label("What else").fill("then tag it")
    page.keyboard.press("Enter")
    expect(page.locator(".remark")).to_have_text("“then tag it”")


@pytest.mark.long
def test_asks_that_are_alike_are_rejected_together_once_they_are_shown(site: Site) -> None:
    lines = ["git push origin main", "git push origin dev"]
    steps = [{"ask": line, "kind": "execute", "rawInput": {"command": line}} for line in lines]
    session = site.session({"otherwise": [{"together": steps}, {"text": "over"}]})
    site.say(session, "go")
    page = site.page(f"/sessions/{session}")
    page.get_by_role("button", name="Reject all 2 alike").first.click()
    expect(page.locator(".step li")).to_have_text(lines)
    page.get_by_role("button", name="Reject these 2 once").click()
    expect(page.locator(".asked")).to_have_count(0)
    expect(page.get_by_text("rejected it")).to_have_count(2)


@pytest.mark.long
def test_always_shows_its_rule_first(site: Site) -> None:
    (step,) = RUN["otherwise"]
    once = {**step, "rawInput": {"command": "make once"}}  # the rule stays
    session = site.session({"otherwise": [once]})
    site.say(session, "go")
    page = opened(site, session)
    page.keyboard.press("a")
    expect(page.get_by_text("From now on, allow without asking")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".ways").first).to_be_visible()
    page.keyboard.press("a")
    page.get_by_role("button", name="Always allow", exact=True).press("Enter")
    expect(page.locator("#transcript").get_by_text("allowed:")).to_be_visible()


@pytest.mark.long
def test_one_button_for_always_and_the_rule_can_be_edited(site: Site) -> None:
    """The agent's own, the narrowest rule and the wider ones are one choice, in a second step."""
    options = [
        {"optionId": "once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "ever", "name": "Don't ask again", "kind": "allow_always"},
    ]
    (step,) = RUN["otherwise"]
    asks = {**step, "rawInput": {"command": "git status -s"}, "options": options}
    session = site.session({"otherwise": [asks]})
    site.say(session, "go")
    page = opened(site, session)
    expect(page.locator("[data-always]").filter(has_text="Always")).to_have_count(1)
    page.keyboard.press("2")
    expect(page.get_by_label("Don't ask again")).to_be_checked()
    expect(page.get_by_role("button", name="then edit the rule")).to_be_hidden()
    page.get_by_label("any git status command").check()
    page.get_by_role("button", name="then edit the rule").click()
    page.wait_for_url("**/settings/rules/edit?name=*")
    expect(page.locator("form.setup")).to_contain_text("git status *")


def test_keys_of_the_terminal_act_on_an_ask_that_has_the_focus(site: Site) -> None:
    session = site.session(RUN)
    site.say(session, "go")
    page = opened(site, session)
    page.keyboard.press("e")
    expect(page.locator(".explain")).to_have_attribute("open", "")
    page.keyboard.press("d")
    expect(page.locator(".toast")).to_contain_text("It stays open.")
    expect(page.locator(".asked")).to_be_visible()
    expect(page.locator("#side")).to_be_hidden()  # elsewhere, the key shows the changes
    page.locator(".answers button").first.focus()
    page.keyboard.press("w")
    expect(page.locator(".answers")).to_have_count(0)
    expect(page.locator("#bar [data-option=confirm]")).to_contain_text("ask when risky")


@pytest.mark.long
def test_who_types_answers_nothing(site: Site) -> None:
    """Letters of a text go to the composer, also those that hit a card."""
    session = site.session(RUN)
    page = site.page(f"/sessions/{session}")
    field = page.locator("#composer textarea")
    expect(field).to_be_focused()
    site.say(session, "go")
    expect(page.locator(".asked")).to_be_focused()
    page.keyboard.type("yes please")
    expect(field).to_be_focused()
    expect(field).to_have_value("yes please")
    expect(page.locator(".answers")).to_be_visible()
    field.fill("")
    has_focus(page)
    page.keyboard.type("no")
    expect(field).to_have_value("no")
    field.fill("")
    has_focus(page)
    page.keyboard.press("n")
    expect(page.locator("#transcript").get_by_text("rejected:")).to_be_visible()
    expect(field).to_be_focused()


@pytest.mark.parametrize("lines", [1, 60], ids=["short", "tall"])
def test_on_a_phone_a_session_opens_at_its_ask(site: Site, lines: int) -> None:
    command = "\n".join(f"echo {number}" for number in range(lines))
    asked = {"ask": "Run it", "kind": "execute", "rawInput": {"command": command}}
    said = {"text": "\n\n".join(f"Paragraph {n} of an answer." for n in range(40))}
    session = site.session({"turns": [[said, asked]]})
    site.say(session, "go")
    card = ".block.ask"
    page = site.page("/", viewport=PHONE, has_touch=True, is_mobile=True)
    expect(page.locator("#list")).to_contain_text("wants to run")
    page.goto(f"{site.served.address}/sessions/{session}")
    expect(page.locator(card)).to_be_in_viewport()
    expect(page.locator(card).locator("strong").first).to_be_in_viewport()
    if lines == 1:
        expect(page.locator(card).get_by_role("button", name="Allow").first).to_be_in_viewport()
    top = page.locator(card).evaluate("(card) => card.getBoundingClientRect().top")
    assert 0 <= top < PHONE["height"] - 100


@pytest.mark.long
def test_a_thumb_holds_what_cannot_be_undone(site: Site) -> None:
    session = site.session(REMOVE)
    site.say(session, "go")
    page = site.page(f"/sessions/{session}", viewport=PHONE, has_touch=True, is_mobile=True)
    button = page.locator("button[data-danger]").first
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 40
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    expect(page.locator("#transcript").get_by_text("removed: allow")).to_be_visible()
    page.mouse.up()


@pytest.mark.long
def test_the_inbox_goes_from_ask_to_ask(serving: Callable[..., Site]) -> None:
    """Answer one, the next slides in; what is answered elsewhere goes at once."""
    site = serving()
    sessions = [site.session(RUN, title=f"Session {number}") for number in range(3)]
    for session in sessions:
        site.say(session, "go")
    for session in sessions:
        opened(site, session).close()
    page = site.page("/inbox")
    expect(page.locator(".others li")).to_have_count(2)
    first = page.locator(".asking").get_attribute("data-session")
    assert first
    page.keyboard.press("y")
    expect(page.locator(".others li")).to_have_count(1)
    expect(page.locator(f'.asking[data-session="{first}"]')).to_have_count(0)
    second = page.locator(".asking").get_attribute("data-session") or ""
    asks = site.served.ask("GET", f"/api/sessions/{second}/header").json()["header"]["asks"]
    (ask,) = asks
    answer = {"ask": ask, "option": asks[ask]["options"][0]["optionId"]}
    assert site.served.ask("POST", f"/api/sessions/{second}/answer", answer).status == 200
    expect(page.locator(".others li")).to_have_count(0)
    page.locator(".answers button").first.click()
    expect(page.get_by_text("Nothing needs you.")).to_be_visible()


@pytest.mark.parametrize("by", ["click", "key"])
def test_a_link_opens_a_tab_that_knows_nothing_of_this_one(site: Site, by: str) -> None:
    session = site.session(LINK, title="Log in")
    site.say(session, "go")
    page = opened(site, session)
    page.context.route("https://auth.example.com/**", lambda route: route.fulfill(body="hello"))
    link = page.get_by_role("link", name="Open in the browser")
    assert link.get_attribute("rel") == "noopener noreferrer"
    expect(page.locator(".asked")).to_contain_text("wants to send you to auth.example.com")
    with page.context.expect_page() as opening:
        if by == "click":
            link.click()
        else:
            page.keyboard.press("y")
    other = opening.value
    other.wait_for_load_state()
    assert other.url.startswith("https://auth.example.com/authorize?client_id=1&state=")
    assert other.evaluate("[opener, document.referrer]") == [None, ""]
    expect(page.locator("body")).to_contain_text("You opened it")
    expect(page.locator("body")).to_contain_text("thanks")


def test_a_link_is_declined_and_nothing_opens(site: Site) -> None:
    session = site.session(LINK, title="Log in")
    site.say(session, "go")
    page = opened(site, session)
    page.get_by_role("button", name="Decline").click()
    expect(page.locator("body")).to_contain_text("without it")
    assert len(page.context.pages) == 1
