"""Pictures of the program, kept as files that were looked at. Every scene has one at 80×24 in the
dark theme; a further size or theme is for scenes whose layout or colours it can change."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot

from tests.tui.still import Still

type Look = tuple[int, int, str]
"""Columns, rows and the theme."""

DARK: Look = (80, 24, "dark")
LIGHT: Look = (80, 24, "light")
CONTRAST: Look = (80, 24, "contrast")
WIDE: Look = (160, 50, "dark")

type Act = Callable[[Pilot[str]], Awaitable[None]]


class Svg(SingleFileSnapshotExtension):
    """Each picture is a file that a browser shows."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


def keys(*pressed: str) -> Act:
    """What one does with keys alone."""

    async def act(pilot: Pilot[str]) -> None:
        for key in pressed:
            await pilot.press(key)
            await pilot.pause()

    return act


async def compare(
    app: Still,
    kept: SnapshotAssertion,
    place: Path,
    act: Act | None = None,
    *,
    looks: Sequence[Look] = (DARK,),
    toasts: bool = False,
) -> None:
    """Hold the program to its kept pictures; those that changed are put into `place`."""
    kept = kept.use_extension(Svg)
    changed = []
    size = looks[0][:2]
    async with app.run_test(size=size, notifications=toasts) as pilot:
        await pilot.pause()
        if act:
            await act(pilot)
            await pilot.pause()
        for columns, rows, theme in looks:
            if size != (columns, rows):
                size = (columns, rows)
                await pilot.resize_terminal(*size)
            app.theme = f"rookery-{theme}"
            app.transcript.settle()
            await pilot.pause()
            name = f"{columns}x{rows}-{theme}"
            picture = app.export_screenshot(simplify=True)
            if kept(name=name) != picture:
                changed.append(place / f"{name}.svg")
                changed[-1].write_text(picture, encoding="utf-8")
    assert not changed, f"it looks different, see {', '.join(map(str, changed))}"
