"""Every block and every state as pictures that were looked at."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from rookery.core.limits import Interface
from rookery.tui.messages import FleetChanged
from rookery.tui.splash import SetUp
from tests.tui import gallery, scenes
from tests.tui.pictures import CONTRAST, DARK, LIGHT, WIDE, Look, compare, keys
from tests.tui.still import Still, a_session
from tests.tui.test_keys import PERMIT

BLOCKS = {
    "talk": gallery.TALK,
    "work": gallery.WORK,
    "asks": gallery.ASKS,
    "permit": PERMIT,
    "answered": scenes.ANSWERED,
    "kinds": scenes.KINDS,
    "live": scenes.LIVE,
    "nested": scenes.NESTED,
    "media": scenes.MEDIA,
    "long": scenes.LONG,
    "troubles": scenes.TROUBLES,
    "refining": scenes.REFINING,
}
FURTHER: dict[str, list[Look]] = {
    "talk": [LIGHT, WIDE],
    "work": [LIGHT, WIDE],
    "asks": [LIGHT, WIDE],
    "nested": [WIDE],
    "long": [WIDE],
    "troubles": [LIGHT],
}
"""Looks whose width or colours show what the first does not."""


@pytest.mark.parametrize("scene", BLOCKS)
async def test_blocks(snapshot: SnapshotAssertion, tmp_path: Path, scene: str) -> None:
    looks = [DARK, *FURTHER.get(scene, [])]
    await compare(Still(gallery.opened(BLOCKS[scene])), snapshot, tmp_path, looks=looks)


async def _open_all(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    app.transcript.focus()
    for item in app.window.items():
        app.window.toggle(item.name, to=True)
    app.transcript.settle()
    await pilot.pause()


@pytest.mark.parametrize("scene", ["work", "kinds", "diffs", "long"])
async def test_opened_blocks(snapshot: SnapshotAssertion, tmp_path: Path, scene: str) -> None:
    updates = scenes.DIFFS if scene == "diffs" else BLOCKS[scene]
    looks = [DARK, LIGHT, WIDE] if scene == "diffs" else [DARK]
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, _open_all, looks=looks)


async def _split(pilot: Pilot[str]) -> None:
    await _open_all(pilot)
    await pilot.press("s")


async def test_split_diff(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    """Where there is no room for two columns, it stays one."""
    app = Still(gallery.opened(scenes.DIFFS))
    await compare(app, snapshot, tmp_path, _split, looks=[DARK, WIDE])


async def test_folded_plan_and_open_cards(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    taste = Interface(cards_expanded=True, plan_opens=False)
    app = Still(gallery.opened(gallery.WORK), taste=taste)
    await compare(app, snapshot, tmp_path, looks=[(100, 50, "dark")])


async def test_a_switch_offers_a_recap(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    app = Still(gallery.opened(gallery.LOST))
    await compare(app, snapshot, tmp_path, keys("shift+tab"))


@pytest.mark.parametrize("state", scenes.STATES)
async def test_states(snapshot: SnapshotAssertion, tmp_path: Path, state: str) -> None:
    await compare(Still(gallery.opened(scenes.STATES[state])), snapshot, tmp_path)


# --- the first screen and the list of sessions -------------------------------------------------

READY = SetUp(
    "/work",
    "rookery",
    installed=("claude", "codex"),
    model="anthropic/claude-sonnet-5-5",
    skills=("deploy", "release-notes", "review"),
    hooks=("/work/.rookery/hooks.json",),
    servers=("docs", "tracker"),
    broken="MCP server odd: needs a command, or a url.",
)
SPLASHES = {
    "demo": SetUp("/work", installed=("claude",)),
    "model": READY,
    "nothing": SetUp("/work", problem="config.toml, line 3: worker.x is not a setting."),
}


@pytest.mark.parametrize("found", SPLASHES)
async def test_splash(snapshot: SnapshotAssertion, tmp_path: Path, found: str) -> None:
    app = Still()
    app.found_here = SPLASHES[found]
    looks = [DARK, LIGHT, WIDE] if found == "model" else [DARK]
    await compare(app, snapshot, tmp_path, looks=looks)


async def _full_fleet(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    rows = [
        a_session("f1", "Mend the broken build", "idle", "gemini", reason="failed"),
        *app.fleet.sessions,
        a_session("g1", "Translate the pages", "running", "qwen", queue=2),
    ]
    app.on_fleet_changed(FleetChanged(rows))
    app.fleet.unread.add("c3")
    await pilot.press("ctrl+b", "down")


async def _no_fleet(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    app.on_fleet_changed(FleetChanged([]))
    await pilot.press("ctrl+b")


@pytest.mark.parametrize("name", ["full", "empty"])
async def test_sessions(snapshot: SnapshotAssertion, tmp_path: Path, name: str) -> None:
    if name == "empty":
        await compare(Still(), snapshot, tmp_path, _no_fleet)
    else:
        app = Still(gallery.opened(gallery.TALK))
        await compare(app, snapshot, tmp_path, _full_fleet, looks=[DARK, LIGHT, WIDE])


async def _toasts(pilot: Pilot[str]) -> None:
    long = 600  # it stays for as long as pictures are taken
    pilot.app.notify("From now on: approve all. /confirm changes it.", timeout=long)
    pilot.app.notify("No editor found: set EDITOR.", severity="warning", timeout=long)
    pilot.app.notify("The log is damaged.", severity="error", timeout=long)
    await pilot.pause()


async def test_passing_messages(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    app = Still(gallery.opened(gallery.TALK))
    await compare(app, snapshot, tmp_path, _toasts, toasts=True, looks=[DARK, LIGHT])


# --- other eyes and other terminals ------------------------------------------------------------

HARD_TO_SEE = {
    "asks": gallery.ASKS,
    "diffs": scenes.DIFFS,
    "work": gallery.WORK,
}


@pytest.mark.parametrize("scene", HARD_TO_SEE)
async def test_high_contrast(snapshot: SnapshotAssertion, tmp_path: Path, scene: str) -> None:
    app = Still(gallery.opened(HARD_TO_SEE[scene]))
    act = _open_all if scene == "diffs" else None
    await compare(app, snapshot, tmp_path, act, looks=[CONTRAST])


@pytest.mark.parametrize("pressed", ["", "f9"])
async def test_no_color(
    snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pressed: str
) -> None:
    """The cursor and the chosen row are seen without a colour, too."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = Still(gallery.opened(gallery.WORK))
    act = keys(pressed) if pressed else None
    await compare(app, snapshot, tmp_path, act)
