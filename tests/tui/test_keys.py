"""What keys and the mouse do, on a session that stands still."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.events import AppFocus
from textual.pilot import Pilot

from rookery.core.blocks.document import make_block
from rookery.home.paths import session_dir
from rookery.home.seen import seen
from rookery.tui.messages import FleetChanged, News, Older, Sent
from rookery.tui.transcript.window import Page
from rookery.tui.widgets.queue import Queue
from rookery.tui.widgets.status import Status
from tests.tui import gallery
from tests.tui.still import Still, fleet


@asynccontextmanager
async def showing(
    updates: list[dict[str, object]], size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Still, Pilot[str]]]:
    app = Still(gallery.opened(updates))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def lines(app: Still) -> str:
    transcript = app.transcript
    return "\n".join(transcript.render_line(y).text for y in range(transcript.size.height))


def answer(ask: str, nonce: str, option: str) -> dict[str, object]:
    return {"do": "answer", "ask": ask, "nonce": nonce, "option": option}


PERMIT = [*gallery.ASKS[:2], {**gallery.ASKS[2], "danger": ""}]


async def test_one_key_answers_the_ask_under_the_cursor() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2", "1")
        assert app.sent == [answer("q1", "n", "once")]


async def test_typing_in_the_composer_never_answers() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("1", "2", "3", "y", "r", "d", "x")
        assert app.sent == []
        assert app.composer.text == "123yrdx"


async def test_a_destructive_answer_takes_a_second_key() -> None:
    async with showing(gallery.ASKS[:3]) as (app, pilot):
        await pilot.press("f2", "1", "1")
        assert app.sent == []
        await pilot.press("j", "y")
        assert app.sent == []
        await pilot.press("f2", "1", "y")
        assert app.sent == [answer("q1", "n", "once") | {"confirm": True}]


async def test_a_disabled_option_says_why_and_sends_nothing() -> None:
    async with showing(gallery.ASKS[:3]) as (app, pilot):
        await pilot.press("f2", "2", "y")
        assert app.sent == []


async def test_a_reason_goes_with_a_rejection() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2", "r", *"too wide", "enter")
        assert app.sent == [answer("q1", "n", "no") | {"reason": "too wide"}]


async def test_writing_a_reason_can_be_abandoned() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2", "r", "escape")
        await pilot.pause()
        assert app.sent == []


async def test_deferring_returns_to_the_composer() -> None:
    """The key is listed on the card, and the worker ends the turn as waiting."""
    async with showing(PERMIT) as (app, pilot):
        assert " d  decide later" in lines(app)
        await pilot.press("f2", "d")
        command = {"do": "answer", "ask": "q1", "nonce": "n", "defer": True}
        assert app.sent == [command]
        assert app.composer.has_focus


async def test_a_kept_ask_says_so_and_is_answered_with_the_same_key() -> None:
    ended = {"sessionUpdate": "_turn", "state": "idle", "reason": "interrupted"}
    async with showing([*PERMIT, ended]) as (app, pilot):
        assert "The agent is not running." in lines(app)
        assert "needs you" in app.screen.query_one("#status", Status).render_line(0).text
        await pilot.press("f2", "1")
        assert app.sent == [answer("q1", "n", "once")]


async def test_a_form_is_checked_and_sent() -> None:
    async with showing([*gallery.ASKS[:2], gallery.ASKS[3]]) as (app, pilot):
        await pilot.press("f2", "f", "ctrl+s")
        assert app.sent == []
        await pilot.press(*"1.2.0", "ctrl+s")
        await pilot.pause()
        command = {"do": "answer", "ask": "q2", "nonce": "m", "action": "accept"}
        assert app.sent == [command | {"content": {"name": "1.2.0", "publish": False}}]


async def test_escape_cancels_and_keeps_the_typed_text() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await pilot.press(*"half a", "escape", "escape")
        assert app.sent == [{"do": "cancel"}, {"do": "cancel"}]
        assert app.composer.text == "half a"


async def test_enter_sends_and_newlines_have_their_own_keys() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"one", "shift+enter", *"two", "ctrl+j", *"three", "enter")
        (sent,) = app.sent
        assert sent["prompt"] == [{"type": "text", "text": "one\ntwo\nthree"}]
        assert app.composer.text == ""


async def test_a_refused_prompt_comes_back() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"again", "enter")
        app.post_message(Sent(app.session, app.sent[0], "The queue is full."))
        await pilot.pause()
        assert app.composer.text == "again"


async def test_enter_folds_and_a_click_opens() -> None:
    async with showing(gallery.WORK, (120, 60)) as (app, pilot):
        app.transcript.focus()
        edit = next(item for item in app.window.items() if item.block.get("kind") == "edit")
        app.transcript.go_to(edit.name)
        assert "def main(name)" in lines(app)
        await pilot.press("enter")
        assert "def main(name)" not in lines(app)
        row = next(y for y, line in enumerate(lines(app).split("\n")) if "edit src/app.py" in line)
        await pilot.click("#transcript", offset=(8, row))
        assert "def main(name)" in lines(app)


async def test_copy_takes_a_blocks_original_text() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.transcript.focus()
        app.transcript.go_to(app.window.items()[-1].name)
        await pilot.press("c")
        await pilot.pause()
        assert app.clipboard == gallery.MARKDOWN


def long_page(turn: int, count: int = 40) -> Page:
    names = [f"{turn}.{number}" for number in range(count)]
    return Page(turn, {n: make_block(n, "answer", text=f"line {n}") for n in names})


async def test_older_pages_load_above_and_the_place_holds() -> None:
    async with showing(gallery.TALK, (100, 30)) as (app, pilot):
        app.window.pages = [long_page(5)]
        app.transcript.show(app.window)
        app.transcript.focus()
        await pilot.press("home")
        top = lines(app).split("\n")[1]
        assert "line 5.0" in lines(app)
        app.on_older(Older(app.session, [long_page(3), long_page(4)]))
        assert lines(app).split("\n")[1] == top
        assert app.transcript.scroll_y > 10


async def test_the_place_holds_while_text_streams_below() -> None:
    async with showing(gallery.TALK, (100, 30)) as (app, pilot):
        app.window.pages = [long_page(5)]
        app.transcript.show(app.window)
        app.transcript.focus()
        await pilot.press("pageup")
        before = lines(app).split("\n")[:-1]
        for number in range(20):
            block = make_block(f"5.{100 + number}", "answer", text="news " * 30)
            app.on_news(News(app.session, [["put", block], ["append", block["id"], "more"]]))
        assert lines(app).split("\n")[:-1] == before
        assert "new below" in lines(app)
        await pilot.press("end")
        assert "new below" not in lines(app)
        assert "more" in lines(app)


async def test_the_end_stays_in_sight_while_text_streams() -> None:
    async with showing(gallery.TALK, (100, 30)) as (app, _):
        app.on_news(News(app.session, [["put", make_block("1.900", "answer")]]))
        for number in range(60):
            app.on_news(News(app.session, [["append", "1.900", f"paragraph {number}\n\n"]]))
        assert "paragraph 59" in lines(app)
        assert "paragraph 2\n" not in lines(app)


async def test_the_list_folds_under_a_hundred_columns_and_opens_with_a_key() -> None:
    async with showing(gallery.TALK, (90, 24)) as (app, pilot):
        assert not app.fleet.display or app.fleet.has_class("folded")
        await pilot.press("ctrl+b")
        assert app.fleet.has_focus
        assert not app.fleet.has_class("folded")
        await pilot.press("escape")
        assert app.fleet.has_class("folded")


async def test_a_draft_stays_with_its_session() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"for this one")
        app.open_session("")
        assert app.composer.text == ""
        await pilot.press(*"new")
        app.open_session("a1b2c3")
        assert app.composer.text == "for this one"


async def test_a_key_cycles_through_every_theme() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        seen = {app.theme}
        for _ in range(2):
            await pilot.press("f5")
            seen.add(app.theme)
        assert seen == {"rookery-dark", "rookery-light", "rookery-contrast"}


@pytest.mark.long
async def test_after_an_answer_typing_goes_to_the_composer_again() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2", "1", *"no qs")
        assert app.sent == [answer("q1", "n", "once")]
        assert app.composer.text == "no qs"
        assert app.session


async def test_an_ask_that_ends_by_itself_gives_the_composer_back() -> None:
    async with showing(PERMIT) as (app, pilot):
        await pilot.press("f2")
        ask = app.window.open_asks()[0]["id"]
        app.on_news(News(app.session, [["set", ask, {"status": "cancelled"}]]))
        await pilot.press("n")
        assert app.composer.text == "n"


async def test_after_an_answer_readers_stay_in_the_transcript() -> None:
    async with showing(PERMIT) as (app, pilot):
        app.transcript.focus()
        await pilot.press("f2", "1")
        assert app.transcript.has_focus


async def test_the_list_marks_its_cursor_and_folds_after_a_choice() -> None:
    async with showing([], (80, 24)) as (app, pilot):
        app.open_session("")
        await pilot.press("ctrl+b")
        assert ["▌" in app.fleet.render_line(y).text for y in (0, 1, 2)] == [False, True, True]
        await pilot.press("enter")
        await pilot.pause()
        assert app.composer.has_focus
        assert app.fleet.has_class("folded")


async def test_ctrl_c_says_which_keys_leave_and_cancel() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await pilot.press("ctrl+c")
        await pilot.pause()
        (told,) = app._notifications
        assert told.message == "Ctrl+Q to leave (nothing stops), Esc to cancel the turn."
        assert app.is_running


async def test_a_held_queue_says_how_to_send_it() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        waits = [{"id": "w", "prompt": [{"type": "text", "text": "go on"}]}]
        strip = app.query_one(Queue)
        for reason, words in (("cancelled", "1 held  go on  Ctrl+T, then s"), ("", "1 queued  go")):
            strip.tell(app.window.header.with_(state="idle", queue=waits, reason=reason))
            await pilot.pause()
            assert words in strip.render_line(0).text


async def test_the_shown_session_is_read_and_the_list_marks_the_rest(tmp_path: Path) -> None:
    opened = gallery.opened(PERMIT)
    directory = Path(session_dir(str(tmp_path), opened.session))
    directory.mkdir(parents=True)
    app = Still(opened, home=str(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert 0 < seen(str(directory)) == opened.header.news
        app.app_focus = False
        app.on_news(News(opened.session, [["set", "header", {"news": 900}]]))
        await pilot.pause()
        assert seen(str(directory)) < 900
        app.app_focus = True
        app.post_message(AppFocus())
        await pilot.pause()
        assert seen(str(directory)) == 900
        other, mine = (next(b for b in fleet() if b["id"] == name) for name in ("c3", "a1b2c3"))
        app.on_fleet_changed(FleetChanged([other | {"unread": True}, mine | {"unread": True}]))
        rows = [app.fleet.render_line(y).text for y in range(app.fleet.size.height)]
        titles = [row for row in rows if other["title"][:10] in row or mine["title"] in row]
        assert [row.endswith("•") for row in titles] == [True, False]


async def test_the_keys_on_a_card_can_be_clicked() -> None:
    async with showing(PERMIT, (120, 50)) as (app, pilot):
        shown = lines(app).split("\n")
        row = next(y for y, line in enumerate(shown) if "reject and say why" in line)
        await pilot.click("#transcript", offset=(shown[row].index("reject and say") + 1, row))
        await pilot.pause()
        await pilot.press(*"no", "enter")
        assert app.sent == [answer("q1", "n", "no") | {"reason": "no"}]
