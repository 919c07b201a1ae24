"""Every look at both sizes and in two themes, as pictures that were looked at (rows U1–U3, U5,
U12)."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from tests.tui import gallery
from tests.tui.still import Still

SIZES = {"80x24": (80, 24), "160x50": (160, 50)}
SCENES = {"talk": gallery.TALK, "work": gallery.WORK, "asks": gallery.ASKS}
THEMES = ("rookery-dark", "rookery-light")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", SCENES)
def test_U3_blocks(snap_compare: Callable[..., bool], scene: str, size: str, theme: str) -> None:
    app = Still(gallery.opened(SCENES[scene]), theme)
    assert snap_compare(app, terminal_size=SIZES[size])


async def _open_all(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    await pilot.pause()
    app.transcript.focus()
    for item in app.window.items():
        app.window.toggle(item.name, to=True)
    app.transcript.settle()
    await pilot.pause()


@pytest.mark.parametrize("scene", ["talk", "work"])
def test_U3_opened_blocks(snap_compare: Callable[..., bool], scene: str) -> None:
    app = Still(gallery.opened(SCENES[scene]))
    assert snap_compare(app, terminal_size=(160, 50), run_before=_open_all)


async def _split(pilot: Pilot[str]) -> None:
    await _open_all(pilot)
    await pilot.press("s")


def test_U3_split_diff(snap_compare: Callable[..., bool]) -> None:
    app = Still(gallery.opened(gallery.WORK[:4]))
    assert snap_compare(app, terminal_size=(160, 30), run_before=_split)


@pytest.mark.parametrize("size", SIZES)
def test_U1_splash(snap_compare: Callable[..., bool], size: str) -> None:
    assert snap_compare(Still(), terminal_size=SIZES[size])


def test_U12_high_contrast(snap_compare: Callable[..., bool]) -> None:
    app = Still(gallery.opened(gallery.ASKS), "rookery-contrast")
    assert snap_compare(app, terminal_size=(120, 36))


def test_U12_no_color(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Still(gallery.opened(gallery.WORK)), terminal_size=(100, 30))


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("keys", ["f1"]),
        ("reason", ["f2", "r"]),
        ("doubt", ["f2", "1"]),
        ("form", ["f2", "f2", "f"]),
    ],
)
def test_U6_windows(snap_compare: Callable[..., bool], name: str, keys: list[str]) -> None:
    app = Still(gallery.opened(gallery.ASKS))
    assert snap_compare(app, terminal_size=(100, 32), press=keys)
