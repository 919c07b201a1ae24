"""The card of an ask shows what will run, and its window all of it."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from rookery.core.json.events import Json
from rookery.tui.windows.whole import AskScreen, Whole
from tests.cli.driving import ROOKERY, play
from tests.spoofs import EVIL, HIDING, SPOOFS, Spoof
from tests.tui import gallery
from tests.tui.pictures import DARK, LIGHT, WIDE, Look, compare, keys
from tests.tui.still import Still
from tests.tui.test_keys import lines, showing
from tests.tui.test_reading_tools import settled
from tests.tui.tmux import Tmux

OPTIONS = gallery.ASKS[2]["options"]


def asked(call: Json, **more: Any) -> list[Json]:
    """A session that asks about a call, as an earlier build logged it."""
    ask: Json = {"sessionUpdate": "_ask", "id": "q", "state": "asked", "nonce": "n"}
    ask |= {"kind": "permission", "toolCall": {"toolCallId": "t", "kind": "execute", **call}}
    return [*gallery.ASKS[:2], ask | {"options": OPTIONS} | more]


def command(text: str, title: str = "Run the unit tests") -> list[Json]:
    return asked({"title": title, "rawInput": {"command": text}})


LONG = "".join(f"echo {n}\n" for n in range(1, 2001)) + EVIL
NEW = "".join(f"value_{n} = {n}\n" for n in range(5000))
EDIT = asked(
    {
        "title": "A small fix",
        "kind": "edit",
        "rawInput": {"path": "/w/a.py", "content": NEW},
        "content": [{"type": "diff", "path": "/w/a.py", "oldText": "", "newText": NEW}],
    }
)


def whole(app: Still) -> list[str]:
    """What its window holds, line by line."""
    shown = app.screen.query_one(Whole)
    return ["".join(text for text, _ in line) for line in shown._lines]


async def opened(app: Still, pilot: Pilot[str], *before: str) -> None:
    """Its window is there, and what it holds: that is laid out once its size is known."""
    await pilot.press(*before, "enter")
    await settled(pilot, lambda: bool(app.screen.query(Whole)) and bool(whole(app)))


def in_sight(app: Still) -> str:
    shown = app.screen.query_one(Whole)
    return "\n".join(shown.render_line(y).text for y in range(shown.size.height))


FEW = [*SPOOFS[:4], *(pytest.param(each, marks=pytest.mark.long) for each in SPOOFS[4:])]
"""All of them are shown by `tests/acp` in every run."""


@pytest.mark.parametrize("spoof", FEW, ids=lambda spoof: spoof.name)
async def test_a_harmless_title_does_not_hide_what_runs(spoof: Spoof) -> None:
    updates = asked({"title": spoof.title, "rawInput": spoof.given})
    async with showing(updates, (80, 24)) as (app, pilot):
        await pilot.press("f2")
        _is_plain(app, spoof)
        await pilot.resize_terminal(160, 50)
        await pilot.pause()
        _is_plain(app, spoof)


def _is_plain(app: Still, spoof: Spoof) -> None:
    said = " ".join(lines(app).replace("┃", " ").replace("│", " ").split())
    assert spoof.seen in said
    assert spoof.note in said
    assert f"claude's description: {spoof.title.strip('`')}" in said.replace("`", "")
    assert not any(sign in lines(app) for sign in HIDING[:-1])


async def test_a_key_shows_all_of_a_long_command() -> None:
    async with showing(command(LONG), (80, 24)) as (app, pilot):
        await pilot.press("f2")
        block = app.transcript.current
        assert block is not None
        card = "\n".join(strip.text for item in app.transcript._items for strip in item.lines or [])
        assert "Enter to show all" in card
        assert EVIL in card  # the end, too
        await opened(app, pilot)
        assert isinstance(app.screen, AskScreen)
        assert [line.removeprefix("│ ") for line in whole(app)[:2001]] == LONG.split("\n")
        assert "echo 1 " in in_sight(app)
        assert EVIL not in in_sight(app)
        await pilot.press("pagedown", "down")
        assert "echo 1 " not in in_sight(app)
        await pilot.press("end")
        assert EVIL in in_sight(app)
        await pilot.press("home")
        assert "echo 1 " in in_sight(app)
        await pilot.press("escape", "1")
        assert [sent["option"] for sent in app.sent] == ["once"]


async def test_a_key_shows_all_of_a_large_change() -> None:
    async with showing(EDIT, (100, 30)) as (app, pilot):
        await opened(app, pilot, "f2")
        rows = [line.split("+ ", 1)[1].strip() for line in whole(app) if "+ " in line]
        assert rows == NEW.splitlines()
        await pilot.press("end")
        await settled(pilot, lambda: "value_4999 = 4999" in in_sight(app))


async def test_a_line_of_thirty_thousand_letters_is_shown_whole() -> None:
    line = "echo " + "x" * 30_000 + "; " + EVIL
    async with showing(command(line), (80, 24)) as (app, pilot):
        await opened(app, pilot, "f2")
        assert "".join(row.removeprefix("│ ") for row in whole(app)).startswith(line)


async def test_no_key_in_the_window_answers() -> None:
    async with showing(command(EVIL)) as (app, pilot):
        await pilot.press("f2", "enter", "1", "2", "3", "y", "p", "w", "x")
        assert isinstance(app.screen, AskScreen)
        assert app.sent == []


async def test_a_click_on_the_omission_shows_the_rest() -> None:
    async with showing(command(LONG), (80, 24)) as (app, pilot):
        await pilot.press("f2")
        row = next(y for y, line in enumerate(lines(app).split("\n")) if "to show all" in line)
        await pilot.click("#transcript", offset=(14, row))
        assert isinstance(app.screen, AskScreen)


async def test_the_window_of_a_question_says_that_this_is_all() -> None:
    async with showing(asked({"title": "Go on?", "kind": "other"})) as (app, pilot):
        await opened(app, pilot, "f2")
        assert whole(app) == ["No more details."]


async def test_the_window_follows_the_width() -> None:
    async with showing(command("x" * 1000), (120, 30)) as (app, pilot):
        await opened(app, pilot, "f2")
        wide = len(whole(app))
        await pilot.resize_terminal(60, 30)
        await settled(pilot, lambda: len(whole(app)) > wide)


MANY = [
    *gallery.ASKS[:2],
    {
        **asked({"title": "Confirm Agent Actions", "kind": "other"})[-1],
        "danger": "deletes files permanently (rm -rf)",
        "does": [
            {"what": "command", "text": "make\nmake install", "call": "a", "kind": "execute"},
            {"what": "command", "text": "rm -rf build", "call": "b", "kind": "execute"},
            {"what": "path", "text": "/work/src/app.py", "call": "c", "kind": "edit"},
            {"what": "diff", "path": "/work/src/app.py", "old": "a = 1\n", "new": "a = 2\n"}
            | {"line": 3, "call": "c", "kind": "edit"},
        ],
    },
]
LOOKS = {
    "many": (MANY, keys("f2")),
    "long": (command(LONG), keys("f2")),
    "whole": (command(LONG), keys("f2", "enter")),
    "change": (EDIT, keys("f2", "enter", "pagedown")),
}
FURTHER: dict[str, list[Look]] = {"many": [LIGHT, WIDE], "whole": [WIDE], "change": [WIDE]}


@pytest.mark.parametrize("name", LOOKS)
async def test_long_asks(snapshot: SnapshotAssertion, tmp_path: Path, name: str) -> None:
    updates, act = LOOKS[name]
    looks = [DARK, *FURTHER.get(name, [])]
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, act, looks=looks)


@pytest.mark.long
def test_a_long_command_is_shown_whole_in_a_real_terminal(home: Path) -> None:
    """A command of thirty thousand letters and a harmless title, from the agent to the screen."""
    text = "".join(f"echo {n:05d}-{'x' * 20}\n" for n in range(1000)) + EVIL
    task = home / "task.txt"
    task.write_text(play({"ask": "List files", "kind": "execute", "rawInput": {"script": text}}))
    with Tmux(home, *ROOKERY, "-f", str(task)) as screen:
        screen.wait_for("needs you")
        screen.press("F2")
        screen.wait_for("Demo wants to run this (1,001 lines)", "echo 00000-")
        screen.press("Enter")
        screen.wait_for("echo 00000-", "Esc")
        screen.press("End")
        screen.wait_for(EVIL, "demo's description: List files")
        screen.press("Escape")
        screen.wait_for("needs you")
