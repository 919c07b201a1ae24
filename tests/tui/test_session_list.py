"""The session list is filtered, made short, and acted on by keys."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from rookery.client.fleet import heads
from rookery.core.blocks.document import Block
from rookery.core.view.states import ASLEEP, NEEDS_YOU, in_order
from rookery.tui.messages import FleetChanged
from rookery.tui.widgets.session_list import width_for
from tests.cli.driving import made
from tests.tui import gallery
from tests.tui.gallery import NOW
from tests.tui.pictures import DARK, compare
from tests.tui.still import Still, a_session
from tests.tui.tmux import Tmux

LARGE = (200, 60, "dark")
MINUTE = 60_000


def sessions() -> list[Block]:
    rows = (
        (a_session("b2", "Port importer to polars", "running", "codex"), "/work/etl", 4),
        (a_session("a1b2c3", "Explain the parser", "running", "claude", 1), "/work/shop", 0),
        (a_session("c3", "Write the release notes", "idle", "demo"), "/work/notes", 60 * 26),
        (a_session("d4", "Upgrade Django", "idle", "codex", reason="failed"), "/work/shop", 90),
    )
    return in_order([block | {"cwd": cwd, "began": NOW - ago * MINUTE} for block, cwd, ago in rows])


async def _list(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    await pilot.pause()
    app.on_fleet_changed(FleetChanged(sessions()))
    app.action_sessions()
    app.fleet.focus()
    await pilot.pause()


async def test_age_directory_and_a_wider_list(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, _list, looks=[DARK, LARGE])
    assert width_for(200) > width_for(150) > width_for(100)


async def test_one_line_per_session(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async def act(pilot: Pilot[str]) -> None:
        await _list(pilot)
        await pilot.press("v")

    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, act, looks=[DARK, LARGE])
    assert app.kept == [{"compact_list": True}]


async def test_the_filter_takes_every_letter(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async def act(pilot: Pilot[str]) -> None:
        await _list(pilot)
        await pilot.press("slash", *"shop nq", "backspace", "backspace")

    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, act)
    async with Still(gallery.opened(gallery.TALK)).run_test(size=(120, 30)) as pilot:
        still = pilot.app
        assert isinstance(still, Still)
        await act(pilot)
        assert [each["id"] for each in still.fleet.listed] == ["a1b2c3", "d4"]
        await pilot.press("escape")
        assert len(still.fleet.listed) == 4
        assert not still.sent, "Esc left the filter and cancelled nothing"
        assert still.fleet.has_focus


async def test_keys_act_on_the_session_under_the_cursor() -> None:
    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(120, 30)) as pilot:
        await _list(pilot)
        await pilot.press("down", "A")
        await pilot.pause()
        assert app.sent == [{"do": "archive"}]
        await pilot.press("R")
        await pilot.pause()
        await pilot.press("end", "!", "enter")
        await pilot.pause()
        assert app.sent[-1] == {"do": "rename", "title": "Port importer to polars!"}
        await pilot.press("S", "escape")
        await pilot.pause()
        assert len(app.sent) == 2, "a running one is stopped only after a yes"
        await pilot.press("S", "y")
        await pilot.pause()
        assert app.sent[-1] == {"do": "stop"}


def test_a_failed_session_sinks_once_read() -> None:
    running, failed = (a_session(n, n, s, "x", reason=r) for n, s, r in FAILED)
    assert [each["id"] for each in in_order([failed, running])] == ["runs", "failed"]
    assert failed["group"] == ASLEEP
    asleep = failed | {"id": "asleep", "condition": "asleep", "began": failed["began"] + 1}
    assert [each["id"] for each in in_order([failed, asleep])] == ["asleep", "failed"]
    unread = failed | {"group": NEEDS_YOU}
    assert [each["id"] for each in in_order([running, unread])] == ["failed", "runs"]


FAILED = (("runs", "running", ""), ("failed", "idle", "failed"))


@pytest.mark.long
def test_filter_delete_and_restore_in_a_real_terminal(home: Path) -> None:
    made({"text": "One."}, title="first thing")
    made({"text": "Two."}, title="second thing")
    with Tmux(home, size=(200, 60)) as screen:
        screen.wait_for("F1 lists", "first thing", "second thing", " s ")
        screen.press("C-b")
        screen.wait_for("Enter open")
        screen.type("/second")
        screen.wait_without("first thing")
        screen.press("Enter")
        screen.wait_for("Two.", "first thing")
        screen.press("C-b")
        screen.wait_for("Enter open")
        screen.type("/first")
        screen.wait_for(" / first")
        screen.press("Escape")
        screen.wait_without(" / first")
        screen.press("Up")
        screen.press("D")
        screen.wait_for("Delete “second thing”?")
        screen.press("y")
        screen.wait_for("is in the trash")
        assert [head["title"] for head in heads(str(home))] == ["first thing"]
        screen.type("U")
        screen.wait_for("Restore from the trash", "kept until")
        screen.press("Enter")
        screen.wait_for("Restored.", "Two.")
    assert {head["title"] for head in heads(str(home))} == {"first thing", "second thing"}
