"""Every window at both sizes and in two themes, as pictures that were looked at (rows U1, U6,
U12)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from rookery.core.policy import Interface
from rookery.tui.splash import SetUp
from tests.tui import gallery
from tests.tui.homes import furnish
from tests.tui.still import Still

SIZES = {"80x24": (80, 24), "160x50": (160, 50)}
THEMES = ("rookery-dark", "rookery-light")
WINDOWS = {
    "settings": ["f6"],
    "models": ["f6", "enter"],
    "model": ["f6", "enter", "enter"],
    "model-wrong": ["f6", "enter", "n", "ctrl+s"],
    "condenser": ["f6", "down", "enter"],
    "interface": ["f6", *["down"] * 4, "enter"],
    "critic": ["f6", *["down"] * 5, "enter"],
    "rules": ["f6", *["down"] * 6, "enter"],
    "limits": ["f6", "end", "enter"],
    "servers": ["f10"],
    "server": ["f10", "enter"],
    "agents": ["f7", *["down"] * 4],
    "options": ["f8"],
    "option": ["f8", "enter"],
    "confirm": ["f9"],
    "keys": ["f1"],
}
LARGE = ("settings", "model", "limits", "agents", "keys")
"""Windows are as wide as their words: a large screen is shown of those that could fill it."""

CASES = [
    (name, size, theme)
    for name in WINDOWS
    for size in SIZES
    for theme in THEMES
    if size == "80x24" or (name in LARGE and theme == THEMES[0])
]


@pytest.mark.parametrize(("name", "size", "theme"), CASES)
def test_U6_windows(
    snap_compare: Callable[..., bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    size: str,
    theme: str,
) -> None:
    home = furnish(tmp_path, monkeypatch)
    app = Still(gallery.opened(gallery.CHOICES), theme, home)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=_keys(*WINDOWS[name]))


def _keys(*keys: str) -> Callable[[Pilot[str]], Awaitable[None]]:
    async def press(pilot: Pilot[str]) -> None:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        for field in pilot.app.screen.query(Input):  # a picture is taken whenever it is taken
            field.cursor_blink = False
            field._restart_blink()
        await pilot.pause()

    return press


@pytest.mark.parametrize("theme", [*THEMES, "rookery-contrast"])
def test_P7_a_question(snap_compare: Callable[..., bool], theme: str) -> None:
    """Every kind of field, with what is wrong."""
    app = Still(gallery.opened(gallery.QUESTION), theme)
    keys = _keys("f2", "f", "ctrl+s")
    assert snap_compare(app, terminal_size=(80, 50), run_before=keys)


def test_U6_a_takeover(snap_compare: Callable[..., bool]) -> None:
    app = Still(gallery.opened(gallery.CHOICES))

    async def ask(pilot: Pilot[str]) -> None:
        from rookery.tui.forms.agent import takeover

        await pilot.pause()
        await app.push_screen(takeover(app.window.header, "codex"))
        await pilot.pause()

    assert snap_compare(app, terminal_size=(80, 24), run_before=ask)


READY = SetUp(
    "/work",
    "rookery",
    installed=("claude", "codex"),
    model="anthropic/claude-sonnet-5-5",
    skills=3,
    hooks=1,
    servers=2,
    broken="MCP server odd: needs a command, or a url.",
)


@pytest.mark.parametrize("theme", [*THEMES, "rookery-contrast"])
@pytest.mark.parametrize("size", SIZES)
def test_U1_splash_with_a_model(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    app = Still(theme=theme)
    app.found_here = READY
    assert snap_compare(app, terminal_size=SIZES[size])


@pytest.mark.parametrize("theme", THEMES)
def test_U1_splash_with_nothing(snap_compare: Callable[..., bool], theme: str) -> None:
    app = Still(theme=theme)
    app.found_here = SetUp("/work", problem="config.toml, line 3: worker.x is not a setting.")
    assert snap_compare(app, terminal_size=(80, 24))


def test_U3_folded_plan_and_open_cards(snap_compare: Callable[..., bool]) -> None:
    taste = Interface(cards_expanded=True, plan_opens=False)
    app = Still(gallery.opened(gallery.WORK), taste=taste)
    assert snap_compare(app, terminal_size=(100, 50))


@pytest.mark.parametrize("theme", THEMES)
def test_S2_a_switch_offers_a_recap(snap_compare: Callable[..., bool], theme: str) -> None:
    app = Still(gallery.opened(gallery.LOST), theme)
    assert snap_compare(app, terminal_size=(80, 24), run_before=_keys("shift+tab"))


STATES = {
    "failed": [
        *gallery.CHOICES[:2],
        {"sessionUpdate": "_turn", "state": "idle", "reason": "error", "error": {"message": "no"}},
    ],
    "parked": [
        {
            "sessionUpdate": "_agent",
            "state": "parked",
            "name": "claude",
            "stderr": ["Error: no key"],
            "remedy": "Set ANTHROPIC_API_KEY.",
        }
    ],
    "limited": [
        *gallery.CHOICES[:2],
        {"sessionUpdate": "_rate_limit", "message": "Too many.", "resetsAt": "15:00"},
    ],
    "cancelled": [
        *gallery.CHOICES[:2],
        {"sessionUpdate": "_turn", "state": "idle", "reason": "cancelled"},
    ],
    "quiet": [*gallery.CHOICES[:2], {"sessionUpdate": "_turn", "state": "quiet"}],
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("state", STATES)
def test_U7_states(snap_compare: Callable[..., bool], state: str, theme: str) -> None:
    app = Still(gallery.opened(STATES[state]), theme)
    assert snap_compare(app, terminal_size=(80, 24))
