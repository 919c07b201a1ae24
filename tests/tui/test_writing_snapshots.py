"""Writing as pictures that were looked at: lists, chips, shell lines, what waits, the critic (rows
U4, U5, U8, U11)."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from tests.tui import gallery
from tests.tui.still import Still
from tests.tui.test_snapshots import SIZES, THEMES
from tests.tui.test_writing import CRITIC, DONE, PERMIT, PNG, QUEUED, news

ISSUES = [{"name": "Tests were not run", "probability": 0.8}]


async def _commands(pilot: Pilot[str]) -> None:
    await pilot.press("/")


async def _files(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, Still)
    for _ in range(2):
        app.post_message(news.Attached(app.session, PNG))
    await pilot.press(*"see @ap")
    app.post_message(news.FilesFound("ap", ["src/app.py", "src/apply.py", "docs/a.md"], 3))


async def _shell(pilot: Pilot[str]) -> None:
    await pilot.press(*"!make", "enter")
    pilot.app.post_message(news.ShellSaid("\x1b[32mok\x1b[0m one\ntwo\nthree\n"))
    pilot.app.post_message(news.ShellSaid("", 0))
    await pilot.press("ctrl+t")


async def _search(pilot: Pilot[str]) -> None:
    pilot.app.post_message(news.PastRead(["fix the parser", "write the notes", "a\nb"]))
    await pilot.pause()
    await pilot.press("ctrl+r")


async def _ask(pilot: Pilot[str]) -> None:
    await pilot.press("f2")


async def _leave(pilot: Pilot[str]) -> None:
    await pilot.press("ctrl+q")


async def _nothing(pilot: Pilot[str]) -> None:
    await pilot.pause()


VERDICT = [*gallery.WORK, DONE, {**CRITIC, "issues": ISSUES}]
SCENES = {
    "commands": (gallery.TALK, _commands),
    "files": (gallery.TALK, _files),
    "shell": (QUEUED, _shell),
    "search": (gallery.TALK, _search),
    "critic": (VERDICT, _nothing),
    "ask": (PERMIT, _ask),
    "leave": (gallery.WORK, _leave),
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", SCENES)
def test_U4_writing(snap_compare: Callable[..., bool], scene: str, size: str, theme: str) -> None:
    updates, act = SCENES[scene]

    async def before(pilot: Pilot[str]) -> None:
        await pilot.pause()
        await act(pilot)
        await pilot.pause()

    app = Still(gallery.opened(updates), theme)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=before)
