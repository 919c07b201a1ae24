"""Writing as pictures that were looked at: lists, chips, shell lines, what waits, the critic."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from tests.tui import gallery, scenes
from tests.tui.pictures import DARK, LIGHT, WIDE, Look, compare, keys
from tests.tui.still import Still
from tests.tui.test_writing import PERMIT, PNG, QUEUED


async def _commands(pilot: Pilot[str]) -> None:
    await pilot.press("/")


async def _files(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    for _ in range(2):
        app.desk.attached(app.session, [PNG])
    await pilot.press(*"see @ap")
    app.desk.files_found("ap", ["src/app.py", "src/apply.py", "docs/a.md"])


async def _shell(pilot: Pilot[str]) -> None:
    await pilot.press(*"!make", "enter")
    pilot.app.desk.shell.panel.say("\x1b[32mok\x1b[0m one\ntwo\nthree\n", None)
    pilot.app.desk.shell.panel.say("", 0)
    await pilot.press("ctrl+t")


async def _search(pilot: Pilot[str]) -> None:
    pilot.app.composer.past.load(["fix the parser", "write the notes", "a\nb"])
    await pilot.pause()
    await pilot.press("ctrl+r")


SCENES = {
    "commands": (gallery.TALK, _commands),
    "files": (gallery.TALK, _files),
    "shell": (QUEUED, _shell),
    "search": (gallery.TALK, _search),
    "critic": (scenes.JUDGED, None),
    "ask": (PERMIT, keys("f2")),
    "leave": (gallery.WORK, keys("ctrl+q")),
    "several-lines": (gallery.TALK, keys(*"one", "ctrl+j", *"two", "ctrl+j", *"three")),
}
FURTHER: dict[str, list[Look]] = {"commands": [WIDE], "files": [WIDE], "critic": [LIGHT]}


@pytest.mark.parametrize("scene", SCENES)
async def test_writing(snapshot: SnapshotAssertion, tmp_path: Path, scene: str) -> None:
    updates, act = SCENES[scene]
    looks = [DARK, *FURTHER.get(scene, [])]
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, act, looks=looks)
