"""Writing: history, completion, attachments, shell lines, commands, the queue."""

import json
from pathlib import Path

import pytest
from textual.events import Paste

from rookery.client.attach import Attachment
from rookery.tui.actions.leaving import LeaveScreen
from rookery.tui.messages import News, Sent
from rookery.tui.system.notifications import Notifications
from rookery.tui.widgets.chips import Chips
from rookery.tui.widgets.feedback import Feedback, keep
from rookery.tui.widgets.shell_panel import ShellPanel
from rookery.tui.widgets.status import Status
from rookery.tui.windows.parts.modals import LineScreen
from tests.tui import gallery
from tests.tui.still import fleet
from tests.tui.test_keys import PERMIT, showing

PNG = Attachment("/tmp/shot.png", b"\x89PNG\r\n\x1a\n" + b"x" * 2000, "image/png")


def text_of(words: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": words}]


async def test_up_and_down_browse_earlier_prompts() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.composer.past.load(["first", "second\nline"])
        await pilot.pause()
        await pilot.press(*"draft", "up")
        assert app.composer.text == "second\nline"
        await pilot.press("up")
        assert app.composer.text == "second\nline"  # to its first line: it is read, not left
        await pilot.press("up")
        assert app.composer.text == "first"
        await pilot.press("down", "down", "down")
        assert app.composer.text == "draft"


async def test_a_search_finds_an_earlier_prompt() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.composer.past.load(["fix the parser", "write the notes", "fix the lexer"])
        await pilot.pause()
        await pilot.press("ctrl+r", *"fix", "down", "enter")
        await pilot.pause()
        assert app.composer.text == "fix the parser"


async def test_a_slash_lists_commands_and_tab_completes() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press("/", *"ren")
        await pilot.pause()
        assert app.composer.popup.is_open
        await pilot.press("tab")
        assert app.composer.text == "/rename "
        await pilot.press(*"New title", "enter")
        await pilot.pause()
        assert app.sent == [{"do": "rename", "title": "New title"}]


async def test_enter_on_a_whole_command_does_it_at_once() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press("/", *"cle")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [{"do": "clear"}]
        assert app.composer.text == ""


async def test_escape_closes_the_list_and_keeps_the_text() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await pilot.press("/", *"cl")
        await pilot.pause()
        await pilot.press("escape")
        assert not app.composer.popup.is_open
        assert app.composer.text == "/cl"
        assert app.sent == []


async def test_an_unknown_slash_is_a_prompt_for_the_agent() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"/review this", "enter")
        await pilot.pause()
        assert app.sent == [{"do": "prompt", "prompt": text_of("/review this")}]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/confirm yolo", {"do": "set", "option": "confirm", "value": "all"}),
        ("/model opus", {"do": "set", "option": "model", "value": "opus"}),
        ("/agent codex", {"do": "switch", "agent": "codex"}),
        ("/stop", {"do": "stop"}),
    ],
)
async def test_commands_do_real_things(line: str, command: dict[str, object]) -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.composer.put(line)
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [command]


async def test_a_file_is_named_and_sent_as_a_link() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"see @ap")
        app.desk.files_found("old", ["nope"])
        app.desk.files_found("ap", ["src/app.py", "a p.md"])
        await pilot.pause()
        await pilot.press("enter", *"please", "enter")
        await pilot.pause()
        link = {"type": "resource_link", "uri": "file:///work/src/app.py", "name": "src/app.py"}
        prompt = [*text_of("see @src/app.py please"), link]
        assert app.sent == [{"do": "prompt", "prompt": prompt}]


async def test_a_paste_of_many_lines_is_text() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.post_message(Paste("one\ntwo\n\nthree"))
        await pilot.pause()
        assert app.composer.text == "one\ntwo\n\nthree"
        assert app.sent == []


@pytest.mark.parametrize("end", ["\r", "\r\n"])
async def test_pasted_line_ends_of_any_kind_are_lines(end: str) -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.post_message(Paste(end.join(("one", "two", "", "three"))))
        await pilot.pause()
        assert app.composer.text == "one\ntwo\n\nthree"
        app.composer.clear()
        app.post_message(Paste(end.join(f"row {number}" for number in range(300))))
        await pilot.pause()
        assert "pasted text, 300 lines" in app.query_one(Chips).render_line(0).text
        await pilot.press("enter")
        await pilot.pause()
        text = "\n".join(f"row {number}" for number in range(300))
        assert app.sent == [{"do": "prompt", "prompt": text_of(text)}]


async def test_lines_pasted_into_a_field_of_a_window_stay_lines() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        answers = list[str | None]()
        app.ask(LineScreen("Why?"), answers.append)
        await pilot.pause()
        app.post_message(Paste("so"))
        app.post_message(Paste(" that\rit\r\nworks\r"))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert answers == ["so that\nit\nworks"]


async def test_attachments_are_listed_and_removed() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        for _ in range(2):
            app.desk.attached(app.session, [PNG])
        await pilot.pause()
        chips = app.query_one(Chips)
        assert chips.render_line(0).text.count("shot.png") == 2
        await pilot.press("backspace")
        await pilot.pause()
        assert chips.render_line(0).text.count("shot.png") == 1
        await pilot.press(*"look", "enter")
        await pilot.pause()
        assert not chips.display
        assert app.files == [PNG]


async def test_a_refused_prompt_comes_back_with_its_files() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        command = {"do": "prompt", "prompt": text_of("look")}
        app.post_message(Sent(app.session, command, "The queue is full.", files=[PNG]))
        await pilot.pause()
        assert app.composer.text == "look"
        assert app.query_one(Chips).display


async def test_a_pasted_path_that_is_no_file_is_text() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.desk.attached(app.session, "/x.png: not there.", "/x.png")
        await pilot.pause()
        assert app.composer.text == "/x.png"


async def test_a_shell_line_is_shown_and_not_sent() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"!make", "enter")
        await pilot.pause()
        panel = app.query_one(ShellPanel)
        app.desk.shell.panel.say("\x1b[31mred\x1b[0m [bold]x\n", None)
        app.desk.shell.panel.say("", 2)
        await pilot.pause()
        assert "exit 2" in panel.render_line(0).text
        assert "red [bold]x" in panel.render_line(1).text
        await pilot.press("escape")
        assert not panel.display
        assert app.sent == []


QUEUED = [
    *gallery.WORK,
    {"sessionUpdate": "_queue", "op": "add", "id": "w1", "prompt": text_of("one")},
    {"sessionUpdate": "_queue", "op": "add", "id": "w2", "prompt": text_of("two")},
]


async def test_queued_prompts_are_moved_removed_and_sent() -> None:
    async with showing(QUEUED) as (app, pilot):
        await pilot.press("ctrl+t", "down", "K", "x", "s")
        base = {"do": "queue", "item": "w2"}
        assert app.sent == [
            {**base, "op": "move", "to": 0},
            {**base, "op": "remove"},
            {**base, "op": "send"},
        ]


async def test_queued_prompts_are_edited_in_the_composer() -> None:
    async with showing(QUEUED) as (app, pilot):
        await pilot.press("ctrl+t", "e")
        await pilot.pause()
        assert app.composer.text == "one"
        await pilot.press(*" more", "enter")
        await pilot.pause()
        edit = {"do": "queue", "op": "edit", "item": "w1", "prompt": text_of("one more")}
        assert app.sent == [edit]


async def test_allowing_all_from_now_on_names_the_change_of_mode() -> None:
    for key, value, words in (("p", "all", "approve all"), ("w", "risky", "ask when risky")):
        async with showing(PERMIT) as (app, pilot):
            await pilot.press("f2", "?", key)
            await pilot.pause()
            mode, answer = app.sent
            assert mode == {"do": "set", "option": "confirm", "value": value}
            assert answer["option"] == "once"
            assert any(words in toast.message for toast in app._notifications)


async def test_a_destructive_ask_is_not_allowed_along_with_the_rest() -> None:
    async with showing(gallery.ASKS[:3]) as (app, pilot):
        await pilot.press("f2", "?", "p", "w")
        await pilot.pause()
        assert app.sent == []


CRITIC = {"sessionUpdate": "_critic", "score": 0.55, "source": "tests", "accepted": False}
DONE = {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"}


async def test_the_status_line_says_which_refinement_it_is() -> None:
    again = {**CRITIC, "again": True, "iteration": 0, "of": 3}
    loop = {"sessionUpdate": "_prompt", "prompt": text_of("Refine"), "origin": "critic"}
    async with showing([*gallery.WORK, DONE, again, loop]) as (app, _):
        assert "refinement 1/3" in app.query_one(Status).render_line(0).text


async def test_feedback_on_a_verdict_takes_one_key_until_the_next_prompt(
    tmp_path: Path,
) -> None:
    async with showing([*gallery.WORK, DONE, CRITIC]) as (app, pilot):
        strip = app.query_one(Feedback)
        assert strip.display
        assert "Was the critic right?  Tab, then 1 right" in strip.render_line(0).text
        await pilot.press("3")
        assert app.composer.text == "3", "in a text it is a letter of it"
        await pilot.press("backspace", "tab", "3")
        assert "too harsh" in strip.render_line(0).text
        assert strip.say(0) is None
        fresh = gallery.opened([*gallery.WORK, DONE, CRITIC, gallery.prompt("next")])
        app.post_message(News(app.session, [["set", "header", fresh.header.raw]]))
        await pilot.pause()
        assert not strip.display
    keep(str(tmp_path), {"critic": "right"})
    assert json.loads((tmp_path / "feedback.jsonl").read_text()) == {"critic": "right"}


async def test_leaving_during_a_turn_says_what_keeps_running() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert isinstance(app.screen, LeaveScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert app.is_running
        app.start.leave_at_once = True
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert "still running" in str(app.return_value)


def _heard(environment: dict[str, str], focused: bool, status: str = "needs-you") -> list[str]:
    written: list[str] = []
    calling = Notifications(written.append, environment)
    sessions = fleet()
    calling.heed(sessions, "b2", focused)
    written.clear()
    after = [{**each, "status": status} if each["id"] == "b2" else each for each in sessions]
    calling.heed(after, "b2", focused)
    return written


def test_an_unfocused_terminal_rings_and_notifies() -> None:
    assert "\x07" not in _heard({}, focused=True)
    assert "\x07" in _heard({}, focused=False)
    assert "\x07" in _heard({}, focused=False, status="idle")
    (title, _, call) = _heard({"TERM": "xterm-kitty"}, focused=False)
    assert title == "\x1b]2;◆ 2 need you · rookery\x07"
    assert call == "\x1b]99;;Tidy up the build scripts needs you\x1b\\"
    assert any("]9;" in each for each in _heard({"TERM_PROGRAM": "WezTerm"}, focused=False))
    assert any("]777;" in each for each in _heard({"TERM": "foot"}, focused=False))
    inside = {"TERM": "xterm-kitty", "TMUX": "/x"}
    assert not any("]99;" in each for each in _heard(inside, focused=False))


async def test_the_next_session_runs_in_a_chosen_sandbox() -> None:
    """By its name or from a list; a session that there is keeps its own."""
    made: list[tuple[object, ...]] = []
    async with showing(gallery.TALK) as (app, pilot):
        app.reader.make = lambda *given: made.append(given)  # type: ignore[method-assign]
        app.composer.put("/sandbox jail")
        await pilot.press("enter")
        await pilot.pause()
        assert app.start.sandbox == ""
        assert "none, bwrap, container" in [*app._notifications][-1].message
        app.composer.put("/sandbox container")
        await pilot.press("enter")
        await pilot.pause()
        assert app.session == ""
        app.composer.put("/sandbox")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("home", "down", "enter")
        await pilot.pause()
        assert "in a sandbox (bwrap)" in [*app._notifications][-1].message
        await pilot.press(*"go", "enter")
        await pilot.pause()
        assert [given[6] for given in made] == ["bwrap"]
        assert app.sent == []
