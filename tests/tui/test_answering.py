"""How asks are answered: by keys with the same meaning for every agent, and never by what somebody
types."""

import asyncio
from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste

from rookery.core.asks import asks
from rookery.core.json.events import Json
from rookery.tui.messages import News
from rookery.tui.private import learn
from rookery.tui.transcript.answer_guard import AnswerGuard
from rookery.tui.widgets.chips import Chips
from rookery.tui.widgets.queue import Queue
from rookery.tui.widgets.status import Status
from rookery.tui.windows.whole import QRScreen
from rookery.tui.writing import drafts
from tests.e2e.house import until
from tests.tui import gallery
from tests.tui.still import Still
from tests.tui.test_keys import PERMIT, answer, lines, showing

CLAUDE = [
    {"optionId": "always", "name": "Always Allow", "kind": "allow_always"},
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
CODEX = [
    {"optionId": "once", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No, and tell Codex what to do", "kind": "reject_once"},
]
PLAN = [
    {"optionId": "auto", "name": "Yes, and accept all edits", "kind": "allow_always"},
    {"optionId": "once", "name": "Yes, and approve each edit", "kind": "allow_once"},
    {"optionId": "no", "name": "No, keep planning", "kind": "reject_once"},
]


def asked(options: list[Json], **more: object) -> list[Json]:
    return [*gallery.ASKS[:2], {**gallery.ASKS[2], "danger": "", "options": options, **more}]


# --- keys by meaning -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [CLAUDE, CODEX], ids=["claude", "codex"])
async def test_keys_mean_the_same_for_every_agent(options: list[Json]) -> None:
    for key, option in (("y", "once"), ("n", "no")):
        async with showing(asked(options)) as (app, pilot):
            await pilot.press("f2", key)
            assert app.sent == [answer("q1", "n", option)]
    async with showing(asked(options)) as (app, pilot):
        await pilot.press("f2", "r", *"not now", "enter")
        assert app.sent == [answer("q1", "n", "no") | {"reason": "not now"}]


async def test_always_shows_its_rule_first() -> None:
    rule = "the command exactly: rm -rf build"
    async with showing(asked(CODEX, always=rule, alwaysChoices=[rule])) as (app, pilot):
        await pilot.press("f2")
        assert rule not in lines(app)
        await pilot.press("a")
        assert app.sent == []
        assert f"  {rule}" in lines(app)
        await pilot.press("x")
        assert app.sent == []
        await pilot.press("a", "y")
        command = {"do": "answer", "ask": "q1", "nonce": "n", "always": True}
        assert app.sent == [command]


async def test_an_agents_own_words_stand_where_they_say_more() -> None:
    async with showing(asked(PLAN)) as (app, pilot):
        await pilot.press("f2")
        shown = lines(app)
        for words in (
            "y  Yes, and approve each edit",
            "a  Yes, and accept all edits",
            "n  No, keep",
        ):
            assert words in shown


async def test_eight_choices_are_in_sight_and_the_rest_behind_a_key() -> None:
    many = [*CLAUDE, *({"optionId": f"o{n}", "name": f"Other {n}", "kind": ""} for n in range(5))]
    async with showing(asked(many)) as (app, pilot):
        await pilot.press("f2")
        before = lines(app)
        assert "Other 4" not in before
        assert "?  more" in before
        await pilot.press("?")
        after = lines(app)
        assert "8  Other 4" in after
        assert "p  allow, approve all from now on" in after
        await pilot.press("8")
        assert app.sent == [answer("q1", "n", "o4")]


async def test_an_unlisted_key_is_typed_into_the_composer() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2", *"please")
        assert app.sent == []
        assert app.composer.text == "please"
        assert app.composer.has_focus


async def test_a_command_is_shown_whole_and_the_keys_stay_in_sight() -> None:
    lines_of_it = [f"echo {n}" for n in range(60)]
    call = {"toolCallId": "d1", "kind": "execute", "title": "Run it"}
    call["rawInput"] = {"command": "\n".join(lines_of_it)}
    async with showing(asked(CLAUDE, toolCall=call), (80, 24)) as (app, pilot):
        await pilot.press("f2")
        card = [strip.text for item in app.transcript._items for strip in item.lines or []]
        assert all(any(line in row for row in card) for line in lines_of_it)
        assert "more lines of this ask" in lines(app)
        assert "y allow once   n reject   ? more" in status(app)
        await pilot.press(*["down"] * 30)
        assert "more lines of this ask" not in lines(app)
        assert "y  allow once" in lines(app)


async def test_only_the_asks_keys_are_listed_below() -> None:
    async with showing(gallery.ASKS[:3]) as (app, pilot):
        await pilot.press("f2")
        below = status(app)
        assert "c copy" not in below
        assert "e editor" not in below
        await pilot.press("y")
        await pilot.pause()
        assert "y confirm" in status(app)


async def test_the_next_ask_key_confirms_a_pending_answer() -> None:
    """F2 right after y is no typing; any other key takes the answer back."""
    async with showing(PERMIT) as (app, pilot):
        app.transcript.asks.guard = AnswerGuard(0, 1e6)
        await pilot.press("f2", "y", "down")
        assert app.sent == []
        await pilot.press("f2", "y", "f2")
        await pilot.pause()
        assert app.sent == [answer("q1", "n", "once")]


async def test_the_command_is_shown_once() -> None:
    call = gallery.tool("d1", "rm -rf build", "execute", "pending")
    ask = {**gallery.ASKS[2], "always": "the command rm -rf build", "alwaysChoices": ["a", "b"]}
    async with showing([*gallery.ASKS[:2], call, {**ask, "danger": ""}]) as (app, _pilot):
        assert lines(app).count("rm -rf build") == 1


# --- who has the focus ---------------------------------------------------------------------------


def arrive(app: Still) -> None:
    """The ask comes while the session is shown."""
    document = gallery.document_of(PERMIT)
    ops = [["put", block] for block in document.blocks.values() if block["role"] == "ask"]
    header = {"asks": document.header.asks}
    app.on_news(News(app.session, [*ops, ["set", "header", header]]))


def status(app: Still) -> str:
    return app.query_one(Status).render_line(0).text


async def test_an_ask_takes_the_focus_when_nobody_types() -> None:
    async with showing(PERMIT[:2]) as (app, pilot):
        app.asking.takes_focus = True
        arrive(app)
        await pilot.pause()
        assert app.transcript.has_focus
        assert "F2" not in status(app)
        assert app.composer.placeholder == "Press a key above, or write"
        await pilot.press("y")
        assert app.sent == [answer("q1", "n", "once")]
        assert app.composer.has_focus


async def test_an_ask_leaves_the_focus_to_someone_who_types() -> None:
    async with showing(PERMIT[:2]) as (app, pilot):
        app.asking.takes_focus = True
        await pilot.press(*"ye")
        arrive(app)
        await pilot.press(*"s please")
        assert app.composer.text == "yes please"
        assert app.sent == []
        assert "F2 answer" in status(app)
        await pilot.press("f2", "y")
        assert app.sent == [answer("q1", "n", "once")]


async def test_an_ask_does_not_move_what_is_being_read() -> None:
    long = gallery.prompt("\n\n".join(f"Clean up {n}." for n in range(40)))
    async with showing([long, PERMIT[1]], (80, 16)) as (app, pilot):
        app.asking.takes_focus = True
        app.transcript.to_start()
        await pilot.pause()
        arrive(app)
        app.asking.take_focus()
        await pilot.pause()
        assert app.composer.has_focus
        assert app.transcript.scroll_y == 0
        assert "F2 answer" in status(app)
        app.transcript.to_end()
        app.asking.take_focus()
        assert app.transcript.screen.focused is app.transcript


async def test_a_paste_never_answers() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2")
        app.post_message(Paste("yes"))
        await pilot.pause()
        await pilot.pause()
        assert app.sent == []
        assert app.composer.text == "yes"


# --- the second step -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["n", "q", "escape", "d", "down", "1"])
async def test_any_other_key_leads_back_to_the_ask(key: str) -> None:
    async with showing(gallery.ASKS[:3]) as (app, pilot):
        session = app.session
        await pilot.press("f2", "y")
        assert "any other key to go back" in lines(app)
        await pilot.press(key)
        await pilot.pause()
        assert "any other key to go back" not in lines(app)
        assert (app.sent, app.session, len(app.screen_stack)) == ([], session, 1)
        assert app.transcript.has_focus
        await pilot.press("y", "y")
        assert app.sent == [answer("q1", "n", "once") | {"confirm": True}]


# --- typing always writes ------------------------------------------------------------------------


async def test_a_queue_that_empties_gives_the_focus_back() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        queue = app.query_one(Queue)
        waits = [{"id": "w", "prompt": [{"type": "text", "text": "go on"}]}]
        queue.tell(app.window.header.with_(queue=waits))
        await pilot.press("ctrl+t", "s")
        queue.tell(app.window.header.with_(queue=[]))
        await pilot.press(*"hello")
        assert app.composer.text == "hello"


async def test_a_clicked_option_leaves_the_focus_in_the_composer() -> None:
    async with showing(PERMIT, (120, 50)) as (app, pilot):
        shown = lines(app).split("\n")
        row = next(y for y, line in enumerate(shown) if "y  allow once" in line)
        await pilot.click("#transcript", offset=(shown[row].index("allow") + 1, row))
        await pilot.pause()
        assert app.sent == [answer("q1", "n", "once")]
        await pilot.press(*"hello")
        assert app.composer.text == "hello"


async def test_letters_without_a_meaning_are_typed_from_anywhere() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        app.transcript.focus()
        await pilot.press(*"hello")
        assert app.composer.text == "hello"
        await pilot.press("ctrl+b", *"true")
        assert app.composer.text == "hellotrue"
        await pilot.click("#transcript", offset=(10, 2))
        await pilot.press(*" e")
        assert app.composer.text == "hellotrue e"


# --- Esc, and the list ---------------------------------------------------------------------------


async def test_esc_goes_back_one_step_and_cancels_only_from_the_composer() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        assert "Esc cancel" in status(app)
        app.transcript.focus()
        await pilot.pause()
        assert "Esc back" in status(app)
        await pilot.press("escape")
        assert app.sent == []
        assert app.composer.has_focus
        await pilot.press("ctrl+b", "escape")
        assert app.sent == []
        await pilot.press("escape")
        assert app.sent == [{"do": "cancel"}]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_list_key_always_leads_to_the_list(size: tuple[int, int]) -> None:
    async with showing(gallery.TALK, size) as (app, pilot):
        app.composer.past.add("an old prompt")
        await pilot.press("ctrl+b", "ctrl+b")
        assert app.fleet.has_focus
        await pilot.press("up", "down", "enter")
        assert app.sent == []
        assert app.composer.text == ""
        assert app.composer.has_focus


# --- the composer --------------------------------------------------------------------------------


async def test_a_key_clears_the_composer_and_up_brings_it_back() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"half a thought", "ctrl+c")
        assert app.composer.text == ""
        await pilot.press("up")
        assert app.composer.text == "half a thought"


async def test_a_long_paste_is_one_chip_and_is_sent_whole() -> None:
    text = "\n".join(f"line {n}" for n in range(120))
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"Look:")
        app.post_message(Paste(text))
        await pilot.pause()
        await pilot.pause()
        assert app.composer.text == "Look:"
        assert "pasted text, 120 lines" in app.query_one(Chips).render_line(0).text
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.sent
        assert sent["prompt"] == [{"type": "text", "text": f"Look:\n\n{text}"}]
        assert not app.query_one(Chips).display


def test_drafts_in_other_windows_stay(tmp_path: Path) -> None:
    drafts.keep(str(tmp_path), {"one": "a", "two": "b"}, {"one", "two"})
    drafts.keep(str(tmp_path), {"three": "c"}, {"two", "three"})
    assert drafts.read(str(tmp_path)) == {"one": "a", "three": "c"}
    drafts.keep(str(tmp_path), {}, {"one", "three"})
    assert drafts.read(str(tmp_path)) == {}


# --- steering ------------------------------------------------------------------------------------


async def test_enter_steers_and_another_key_queues_as_the_status_line_says() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.on_news(News(app.session, [["set", "header", {"steers": True}]]))
        await pilot.press(*"now")
        assert "Enter steer   Alt+Enter queue" in status(app)
        await pilot.press("enter")
        for key in ("alt+enter", "ctrl+l"):
            await pilot.press(*"then", key)
        await pilot.pause()
        assert [each.get("steer") for each in app.sent] == [True, None, None]


def test_alt_enter_works_in_terminals_without_extended_keys() -> None:
    learn()
    pressed = [event.key for event in XTermParser().feed("\x1b\r") if isinstance(event, Key)]
    assert pressed == ["alt+enter"]


async def test_enter_queues_where_the_agent_cannot_be_steered() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"now")
        assert "Enter queue" in status(app)
        await pilot.press("enter")
        await pilot.pause()
        (sent,) = app.sent
        assert "steer" not in sent


# --- more than yes and no ------------------------------------------------------------------------

LINES = ["Writes out.txt", "Connects to example.com"]


async def test_yes_and_sends_a_word_with_the_answer_and_leaves_the_command_in_sight() -> None:
    async with showing(asked(CODEX)) as (app, pilot):
        await pilot.press("f2", "m")
        assert app.screen.has_class("below")
        await pilot.press(*"tag it", "enter")
        assert app.sent == [{**answer("q1", "n", "once"), "reason": "tag it"}]


async def test_a_key_explains_what_the_ask_would_do() -> None:
    async with showing(asked(CODEX, explains=LINES)) as (app, pilot):
        await pilot.press("f2")
        assert LINES[0] not in lines(app)
        await pilot.press("e")
        assert all(line in lines(app) for line in LINES)
        await pilot.press("e")
        assert LINES[0] not in lines(app)
        assert app.sent == []


async def test_one_key_allows_all_that_are_alike_once_they_are_shown() -> None:
    first = asked(CODEX, alike="k")
    second = {**first[2], "id": "q2", "nonce": "m", "toolCall": {"toolCallId": "t2"}}
    second["does"] = [{"what": "command", "text": "make b", "call": "t2", "kind": "execute"}]
    first[2]["does"] = [{"what": "command", "text": "make a", "call": "t", "kind": "execute"}]
    async with showing([*first, second]) as (app, pilot):
        await pilot.press("f2")
        assert "Y  allow all 2 alike" in lines(app)
        await pilot.press("Y")
        assert "1. make a" in lines(app)
        assert "2. make b" in lines(app)
        assert app.sent == []
        await pilot.press("n")
        assert app.sent == []
        await pilot.press("Y", "y")
        assert app.sent == [answer("q1", "n", "once"), answer("q2", "m", "once")]


async def test_a_long_command_that_may_be_always_allowed_leaves_room_for_its_reach() -> None:
    line = f"pytest -x tests/test_login.py --count 50 {'a' * 60}"
    rules = {"always": line, "alwaysReach": ["Adds a rule."]}
    rules |= {"alwaysChoices": [f"exactly `{line}` in this project"]}
    async with showing(asked(CODEX, **rules)) as (app, pilot):
        await pilot.press("f2")
        row = next(each for each in lines(app).split("\n") if "always allow exactly" in each)
        assert "`pytest -x" in row
        assert row.rstrip().endswith("…` in this project")


async def test_one_key_rejects_all_that_are_alike_once_they_are_shown() -> None:
    first = asked(CODEX, alike="k")
    second = {**first[2], "id": "q2", "nonce": "m", "toolCall": {"toolCallId": "t2"}}
    second["does"] = [{"what": "command", "text": "make b", "call": "t2", "kind": "execute"}]
    first[2]["does"] = [{"what": "command", "text": "make a", "call": "t", "kind": "execute"}]
    async with showing([*first, second]) as (app, pilot):
        await pilot.press("f2")
        assert "N  reject all 2 alike" in lines(app)
        await pilot.press("N")
        assert "to reject these 2 once" in lines(app)
        assert app.sent == []
        await pilot.press("y")
        assert [command["ask"] for command in app.sent] == ["q1", "q2"]
        options = {each["optionId"]: each["kind"] for each in first[2]["options"]}
        assert {options[command["option"]] for command in app.sent} == {"reject_once"}


async def test_a_letter_that_was_typed_before_the_card_came_is_not_sent_without_a_word() -> None:
    async with showing(asked(CODEX)) as (app, pilot):
        app.composer.focus()
        await pilot.press("y", "enter")
        assert app.sent == []
        assert app.composer.text == "y"
        await pilot.press("enter")
        assert [command["do"] for command in app.sent] == ["prompt"]


async def test_text_below_an_open_ask_says_that_it_is_no_answer_and_when_it_is_read() -> None:
    async with showing(asked(CODEX)) as (app, pilot):
        app.composer.focus()
        await pilot.press(*"wait", "enter")
        assert [command["do"] for command in app.sent] == ["prompt"]
        told = [str(each.message) for each in app._notifications]
        assert any("no answer to the open question" in words for words in told)
        assert any("when this turn ends" in words for words in told)


# --- links ---------------------------------------------------------------------------------------

ADDRESS = "https://auth.example.com/authorize?" + "&".join(f"p{n}=value{n}" for n in range(30))


def link() -> list[Json]:
    params = {"mode": "url", "message": "Log in", "url": ADDRESS, "elicitationId": "e1"}
    ask = asks.asked("q1", "n", "elicitation/create", params)
    assert ask is not None
    return [*gallery.ASKS[:2], ask.update]


def did(action: str) -> Json:
    return {"do": "answer", "ask": "q1", "nonce": "n", "action": action}


def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that notes what it is to open."""
    program, noted = tmp_path / "xdg-open", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {noted}.new && mv {noted}.new {noted}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return noted


async def test_a_link_is_opened_by_a_key_and_then_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = browser(tmp_path, monkeypatch)
    monkeypatch.setenv("DISPLAY", ":9")
    async with showing(link(), (80, 40)) as (app, pilot):
        shown = "".join(line.strip(" ┃│▌") for line in lines(app).split("\n"))
        assert ADDRESS in shown
        assert "wants to send you to auth.example.com" in lines(app)
        assert not noted.exists()
        await pilot.press("f2", "y")
        assert app.sent == [did("accept")]
        await asyncio.to_thread(until, noted.exists, "the browser opens")
        assert noted.read_text() == ADDRESS


async def test_without_a_browser_nothing_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with showing(link()) as (app, pilot):
        await pilot.press("f2", "y")
        assert app.sent == []
        [notified] = app._notifications
        assert "SSH" in notified.message
        assert "copy" in notified.message
        await pilot.press("c")
        assert app.clipboard == ADDRESS
        await pilot.press("2")
        assert app.sent == [did("accept")]


async def test_a_link_is_declined() -> None:
    async with showing(link()) as (app, pilot):
        await pilot.press("f2")
        assert "y open in the browser   n decline" in status(app)
        await pilot.press("n")
        assert app.sent == [did("decline")]


@pytest.mark.parametrize(("size", "said"), [((120, 60), "█"), ((80, 24), "needs a terminal of")])
async def test_a_link_as_a_qr_code(size: tuple[int, int], said: str) -> None:
    async with showing(link(), size) as (app, pilot):
        await pilot.press("f2", "q")
        window = app.screen
        assert isinstance(window, QRScreen)

        def seen() -> bool:
            whole = window.whole
            return said in "".join(whole.render_line(y).text for y in range(whole.size.height))

        for _ in range(200):
            if seen():
                break
            await pilot.pause(0.05)
        assert seen()
