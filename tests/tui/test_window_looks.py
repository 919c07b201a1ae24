"""Every window as pictures that were looked at."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from rookery.tui.windows.parts.rows import RowsScreen
from tests.tui import gallery
from tests.tui.homes import furnish
from tests.tui.pictures import CONTRAST, DARK, LIGHT, WIDE, Look, compare, keys
from tests.tui.still import Still

WINDOWS = {
    "settings": ["f6"],
    "models": ["f6", "enter"],
    "model": ["f6", "enter", "enter"],
    "model-wrong": ["f6", "enter", "n", "ctrl+s"],
    "model-providers": ["f6", "enter", "n", "enter"],
    "model-remove": ["f6", "enter", "x"],
    "condenser": ["f6", *["down"] * 9, "enter"],
    "interface": ["f6", "end", "enter"],
    "critic": ["f6", *["down"] * 8, "enter"],
    "rules": ["f6", *["down"] * 3, "enter"],
    "worker": ["f6", *["down"] * 4, "enter"],
    "limits": ["f6", *["down"] * 7, "enter"],
    "settings-search": ["f6", "slash", *"budget"],
    "servers": ["f10"],
    "server": ["f10", "enter"],
    "server-remove": ["f10", "x"],
    "agents": ["f7", *["down"] * 4],
    "options": ["f8"],
    "option": ["f8", "enter"],
    "confirm": ["f9"],
    "keys": ["f1"],
}


SEEN = ("settings", "model", "rules", "confirm", "keys")
"""Looked at in every run; the others in the long one."""
FURTHER: dict[str, list[Look]] = {
    "settings": [LIGHT, WIDE],
    "model": [LIGHT, WIDE],
    "rules": [WIDE],
    "keys": [WIDE],
    "servers": [WIDE],
    "agents": [WIDE],
}
"""Forms and tables that use the width, and the fields' colours."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in SEEN else pytest.mark.long) for name in WINDOWS],
)
async def test_windows(
    snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    home = furnish(tmp_path, monkeypatch)
    app = Still(gallery.opened(gallery.CHOICES), home=home)
    looks = [DARK, *FURTHER.get(name, [])]
    await compare(app, snapshot, tmp_path, keys(*WINDOWS[name]), looks=looks)


@pytest.mark.parametrize("pressed", ["f10", "f6"])
async def test_empty_windows(
    snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pressed: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    app = Still(home=str(tmp_path))
    await compare(app, snapshot, tmp_path, keys(pressed))


async def test_taking_over_a_session(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    gallery.kept(str(tmp_path), gallery.CHOICES)
    app = Still(gallery.opened(gallery.CHOICES), home=str(tmp_path))

    async def ask(pilot: Pilot[str]) -> None:
        await pilot.press("f7")
        await pilot.pause()
        assert isinstance(app.screen, RowsScreen)
        app.screen.dismiss("codex")
        await pilot.pause()

    await compare(app, snapshot, tmp_path, ask)


ASKING = {
    "reason": ["f2", "r"],
    "doubt": ["f2", "1"],
    "form": ["f2", "f2", "f"],
}


@pytest.mark.parametrize("name", ASKING)
async def test_windows_of_asks(snapshot: SnapshotAssertion, tmp_path: Path, name: str) -> None:
    app = Still(gallery.opened(gallery.ASKS))
    await compare(app, snapshot, tmp_path, keys(*ASKING[name]))


async def test_a_question_form(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    """Every kind of field, with what is wrong."""
    app = Still(gallery.opened(gallery.QUESTION))
    looks: list[Look] = [DARK, LIGHT, CONTRAST, (80, 50, "dark")]
    await compare(app, snapshot, tmp_path, keys("f2", "f", "ctrl+s"), looks=looks)
