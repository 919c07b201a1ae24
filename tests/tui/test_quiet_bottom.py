"""The bottom of the screen: one line, few words, three keys; the rest is behind `?`."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from rookery.core.json.events import Json
from rookery.tui.widgets.status import Status
from rookery.tui.windows.key_help import KeysScreen
from tests.tui import gallery, scenes
from tests.tui.pictures import Look, compare
from tests.tui.quiet import around, words
from tests.tui.still import Still
from tests.tui.test_keys import PERMIT, showing

SIZES = ((80, 24), (110, 50), (160, 48), (200, 60))
LOOKS: list[Look] = [(*size, "dark") for size in SIZES]
USAGE: Json = {
    "sessionUpdate": "usage_update",
    "used": 76_000,
    "size": 200_000,
    "cost": {"amount": 0.42},
}
IDLE = [*gallery.CHOICES[:3], USAGE, *gallery.CHOICES[3:]]
PLANNING: list[Json] = [*IDLE, {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}]
CALLING = [
    *gallery.CHOICES[:2],
    gallery.tool("x", "", "execute", "in_progress", rawInput={"command": "sleep 20"}),
]
LONG = "a-model-with-a-very-long-name-that-somebody-chose-2026-11-18"


def chosen(**values: str) -> Json:
    """The agent's options with other values."""
    listed = [
        each | {"currentValue": values.get(each["id"], each["currentValue"])}
        for each in gallery.CHOICES[2]["configOptions"]
    ]
    return {"sessionUpdate": "config_option_update", "configOptions": listed}


def status(app: Still, width: int) -> str:
    return "".join(text for text, _ in app.query_one(Status).lines(width)[0])


async def test_an_idle_screen_has_at_most_16_words_around_its_text() -> None:
    async with showing(IDLE, (110, 50)) as (_, pilot):
        said = words(pilot)
        assert len(said) <= 16, said
        bottom = " ".join(around(pilot)[-1].split())
    assert bottom == (
        "· asleep claude · big · ask always · ⎇ main 76k/200k · $0.42 "
        "F2 next ask Ctrl+B sessions ? keys"
    )


async def test_the_first_screen_has_at_most_16_words_around_its_text() -> None:
    app = Still()
    async with app.run_test(size=(110, 50)) as pilot:
        await pilot.pause()
        said = words(pilot)
        assert len(said) <= 16, said
        assert "demo new session · ask always · ⎇ main" in " ".join(around(pilot)[-1].split())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("updates", "kept"),
    [
        (IDLE, ("asleep", "claude", "ask always", "? keys")),
        (PLANNING, ("asleep", "claude", "plan", "? keys")),
        (PERMIT, ("needs you", "claude", "F2 answer")),
        ([*IDLE, *gallery.CHOICES[:2]], ("running", "claude", "Esc cancel")),
        ([*IDLE, *CALLING], ("running", "run sleep 20", "claude", "ask always", "Esc cancel")),
    ],
    ids=["idle", "planning", "asked", "running", "calling"],
)
async def test_one_line_keeps_what_matters_at_every_width(
    size: tuple[int, int], updates: list[Json], kept: tuple[str, ...]
) -> None:
    async with showing(updates, size) as (_, pilot):
        *above, bottom = around(pilot)
        assert not above[-1].strip("─╰╯ "), "nothing else below the composer"
        for each in kept:
            assert bottom.count(each) == 1, bottom


async def test_a_mode_is_named_once_and_no_default_is() -> None:
    """Claude's own modes have our words where they mean the same, else its own."""
    for mode, label in (("default", "ask always"), ("plan", "plan")):
        async with showing([*IDLE, chosen(mode=mode, model="default")]) as (app, _):
            line = status(app, 200)
            assert f"claude · {label} · ⎇ main" in line
            assert "default" not in line


async def test_long_names_are_cut_and_push_nothing_out() -> None:
    async with showing([*IDLE, chosen(model=LONG)], (110, 50)) as (app, _):
        app.below(Status).place = app.below(Status).place._replace(branch="topic/" + LONG)  # type: ignore[union-attr]
        line = status(app, 110)
        assert len(line) <= 110
        for each in ("claude · a-model", "… · ask always", "76k/200k", "? keys"):
            assert each in line
        assert "ask always" in status(app, 80)


async def test_a_question_mark_where_nothing_is_written_lists_the_keys() -> None:
    async with showing(IDLE) as (app, pilot):
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, KeysScreen)
        await pilot.press("escape")
        await pilot.press(*"what", "question_mark")
        assert app.composer.text == "what?"
        assert "F1 keys" in status(app, 200)
        await pilot.press("ctrl+b", "question_mark")
        await pilot.pause()
        assert isinstance(app.screen, KeysScreen)


async def test_each_part_of_the_screen_shows_its_keys_and_the_way_back() -> None:
    async with showing(IDLE) as (app, pilot):
        await pilot.press("ctrl+b")
        await pilot.pause()
        assert "Enter open   Esc back   ? keys" in status(app, 200)
        await pilot.press("escape")
        await pilot.press("ctrl+f")
        await pilot.pause()
        assert "Esc close" in status(app, 200)


@pytest.mark.parametrize("scene", ["idle", "planning", "asked", "running"])
async def test_pictures(snapshot: SnapshotAssertion, tmp_path: Path, scene: str) -> None:
    updates = {
        "idle": IDLE,
        "planning": PLANNING,
        "asked": PERMIT,
        "running": [*IDLE, *scenes.LIVE],
    }[scene]
    looks = LOOKS if scene == "idle" else LOOKS[:2]
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, looks=looks)
