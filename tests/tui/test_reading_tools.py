"""The side panel, thoughts as they stream, the end of a command's output, find, the palette, and
the export."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input

from rookery.core.json.events import Json
from rookery.export.files import to_new_file
from rookery.tui.messages import News
from rookery.tui.widgets.side_panel import SidePanel
from rookery.tui.windows.search import PaletteScreen
from tests.cli.driving import ROOKERY, made, play, rookery
from tests.tui import gallery, scenes
from tests.tui.gallery import DIFF, chunk, prompt, running, said, tool
from tests.tui.pictures import DARK, LIGHT, compare, keys
from tests.tui.still import Still
from tests.tui.tmux import Tmux

LARGE = (200, 60, "dark")
OTHER = {**DIFF, "path": "/work/tests/test_app.py", "oldText": None, "newText": "a\nb\nc\n"}
CHANGED: list[Json] = [
    *gallery.WORK[:4],
    tool("e2", "Write a test", "edit", content=[OTHER]),
    tool("e3", "Edit app.py", "edit", "failed", content=[DIFF]),
]


# --- the side panel ----------------------------------------------------------------------------


async def test_side_panel(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    """At 80 columns there is none."""
    app = Still(gallery.opened(CHANGED))
    looks = [DARK, (160, 50, "dark"), LARGE, (200, 60, "light")]
    await compare(app, snapshot, tmp_path, looks=looks)


def shown(panel: SidePanel) -> str:
    return "\n".join(panel.render_line(y).text for y in range(panel.size.height))


async def test_the_side_panel_follows_events_and_its_files_can_be_chosen() -> None:
    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        panel = app.below(SidePanel)
        assert not panel.display, "never an empty quarter of the screen"
        document = gallery.document_of(CHANGED)
        ops = [["put", dict(block)] for block in document.blocks.values()]
        app.on_news(News("a1b2c3", [*ops, ["set", "header", {"plan": document.header.plan}]]))
        await pilot.pause()
        assert panel.display
        for words in ("Plan 1 of 3", "Changes 2 files", "src/app.py", "+4 −2", "test_app.py", "+3"):
            assert words in shown(panel)
        panel.focus()
        await pilot.press("up")
        await pilot.pause()
        assert "def main(name)" in shown(panel)
        await pilot.press("enter")
        await pilot.pause()
        assert app.transcript.has_focus
        await pilot.press("f12")
        await pilot.pause()
        assert not panel.display


async def settled(pilot: Pilot[Any], is_so: Callable[[], bool]) -> None:
    """The panel says that it fits, then the plan is folded: each by a message of its own."""
    for _ in range(50):
        await pilot.pause()
        if is_so():
            return
    assert is_so()


async def test_a_plan_stands_beside_the_transcript_or_in_it_and_never_in_both() -> None:
    """Beside the transcript where there is room, else in it. The user's own choice wins."""
    app = Still(gallery.opened(CHANGED))
    async with app.run_test(size=(160, 90)) as pilot:
        step = "Run the tests"
        await settled(pilot, lambda: "▸ Plan 1/3" in text_of(app))
        panel = app.below(SidePanel)
        assert step in shown(panel)
        assert step not in text_of(app)
        await pilot.press("f12")
        await settled(pilot, lambda: step in text_of(app))
        assert not panel.display
        await pilot.press("f12")
        await settled(pilot, lambda: step not in text_of(app))
        plan = next(item for item in app.window.items() if item.block["role"] == "plan")
        app.transcript.go_to(plan.name)
        app.transcript.focus()
        await pilot.press("enter")
        await settled(pilot, lambda: step in text_of(app))
        await pilot.resize_terminal(120, 40)
        await settled(pilot, lambda: not panel.display)
        assert step in text_of(app)


# --- thoughts and commands ---------------------------------------------------------------------

THINKING = [prompt("Why?"), running(), chunk("thought", "One.\n\n" + "It may be the cache. " * 40)]


async def test_a_thought_is_read_as_it_streams(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    await compare(Still(gallery.opened(THINKING)), snapshot, tmp_path, looks=[DARK, LARGE])
    app = Still(gallery.opened(THINKING))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "It may be the cache." in text_of(app)
        app.on_news(
            News("a1b2c3", [["put", dict(last_block([*THINKING, chunk("message", "Yes.")]))]])
        )
        await pilot.pause()
        assert "It may be the cache." not in text_of(app), "folded once it is over"


def last_block(updates: list[Json]) -> Json:
    return list(gallery.document_of(updates).blocks.values())[-1]


def text_of(app: Still) -> str:
    transcript = app.transcript
    return "\n".join(transcript.render_line(y).text for y in range(transcript.size.height))


OUTPUT = "".join(f"tests/test_{n}.py .......\n" for n in range(9)) + "\n32 passed in 5.84s\n"
RAN = [
    prompt("Test it."),
    running(),
    tool("x", "", "execute", rawInput={"command": "pytest -q"}, content=said(f"```\n{OUTPUT}```")),
]


async def test_a_finished_command_shows_its_last_lines(
    snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    await compare(Still(gallery.opened(RAN)), snapshot, tmp_path, looks=[DARK, LARGE])


# --- find --------------------------------------------------------------------------------------


async def test_find_in_the_transcript(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    act = keys("ctrl+f", *"parser")
    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, act, looks=[DARK, LIGHT, LARGE])


async def test_find_goes_through_the_matches_and_opens_what_is_folded() -> None:
    app = Still(gallery.opened([*scenes.KINDS[:6], *RAN]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+f", *"test_3.py")
        await pilot.pause()
        assert "tests/test_3.py" in text_of(app), "the call was opened"
        await pilot.press("ctrl+f", *"one of each")
        await pilot.pause()
        assert "Show me one of each." in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.composer.has_focus
        assert not app.composer.text


@pytest.mark.long
def test_find_loads_older_pages(home: Path) -> None:
    session = made({"text": "the very first words"})
    steps = [step for n in range(30) for step in ({"thought": f"{n}?"}, {"text": f"part {n}\n\n"})]
    rookery("prompt", session, play(*steps))
    with Tmux(home, *ROOKERY, "--resume", session, size=(80, 24)) as screen:
        screen.wait_for("part 29", "● idle")
        screen.press("C-f")
        screen.type("very first")
        screen.wait_for("no matches here; Enter to search further up")
        screen.press("Enter")
        screen.wait_for("the very first words", "2 of 2")
        screen.press("Up")
        screen.wait_for("1 of 2")
        screen.press("Escape")
        screen.wait_without("1 of 2")


# --- the palette -------------------------------------------------------------------------------


async def test_command_palette(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, keys("ctrl+p"), looks=[DARK, LARGE])


@pytest.mark.parametrize(
    ("typed", "done"),
    [("release notes", "c3"), ("clear", "clear"), ("mcp servers", "servers")],
)
async def test_the_palettes_entries_act(typed: str, done: str) -> None:
    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert isinstance(app.screen, PaletteScreen)
        app.screen.query_one(Input).value = typed
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()
        screen = type(app.screen).__name__.lower()
        assert done in (app.session, *(command["do"] for command in app.sent)) or done in screen


# --- the export --------------------------------------------------------------------------------


def test_export_writes_a_file(home: Path, tmp_path: Path) -> None:
    session = made({"text": "Good **morning**."}, {"command": "echo ran-$((6*7))"}, title="A walk!")
    where = to_new_file(str(home), session, "", str(tmp_path))
    assert where == str(tmp_path / "a-walk.md")
    text = Path(where).read_text()
    for words in ("# A walk!", "## You", "Good **morning**.", "**run echo ran-", "```\nran-42"):
        assert words in text
    assert to_new_file(str(home), session, "", str(tmp_path)) == str(tmp_path / "a-walk-2.md")


@pytest.mark.long
def test_export_works_from_a_real_terminal(home: Path, tmp_path: Path) -> None:
    with Tmux(home, size=(200, 60), cwd=tmp_path) as screen:
        screen.ready()
        screen.say(play({"text": "Good morning."}))
        screen.wait_for("Good morning.", "● idle")
        screen.say("/export walk.md")
        screen.wait_for("Exported to")
    assert "Good morning." in (tmp_path / "walk.md").read_text()
